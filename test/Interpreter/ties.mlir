// RUN: dist-opt %s --dist-to-step | dist-interp - --f64 --print | FileCheck %s

// Where a derivative has a choice: ties share, kinks give zero. Each parameter
// starts at zero, and a constant says where it is looked at.
func.func @loss(%row: tensor<2x4xf32> {nn.param = "row", nn.init = "zeros"},
    %all: tensor<2x3xf32> {nn.param = "all", nn.init = "zeros"},
    %a: tensor<3xf32> {nn.param = "a", nn.init = "zeros"}, %b: tensor<3xf32> {nn.param = "b", nn.init = "zeros"},
    %c: tensor<3xf32> {nn.param = "c", nn.init = "zeros"}, %r: tensor<3xf32> {nn.param = "r", nn.init = "zeros"},
    %s: tensor<3xf32> {nn.param = "s", nn.init = "zeros"}, %t: tensor<4xf32> {nn.param = "t", nn.init = "zeros"},
    %u: tensor<4xf32> {nn.param = "u", nn.init = "zeros"}, %v: tensor<2xf32> {nn.param = "v", nn.init = "zeros"}) -> tensor<f32> {
  // Two of four share 2, four of four share 8.
  // CHECK: grad:row = {{\[\[}}1, 0, 1, 0], [2, 2, 2, 2]]
  %row_at = arith.constant dense<[[3.0, 1.0, 3.0, 2.0], [5.0, 5.0, 5.0, 5.0]]> : tensor<2x4xf32>
  %row_x = arith.addf %row, %row_at : tensor<2x4xf32>
  %row_m = nn.reduce max "a b -> a"(%row_x) : (tensor<2x4xf32>) -> tensor<2xf32>
  %row_w = arith.constant dense<[2.0, 8.0]> : tensor<2xf32>
  %row_l = nn.einsum "a, a ->"(%row_m, %row_w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>

  // Ties are counted over all reduced dimensions; -0 and 0 tie.
  // CHECK-NEXT: grad:all = {{\[\[}}0, 2, 0], [2, 0, 2]]
  %all_at = arith.constant dense<[[1.0, -0.0, 7.0], [0.0, 4.0, -0.0]]> : tensor<2x3xf32>
  %all_x = arith.addf %all, %all_at : tensor<2x3xf32>
  %all_m = nn.reduce min "a b ->"(%all_x) : (tensor<2x3xf32>) -> tensor<f32>
  %six = arith.constant dense<6.0> : tensor<f32>
  %all_l = arith.mulf %all_m, %six : tensor<f32>

  // The larger, the smaller, half each where equal; of one value all.
  // CHECK-NEXT: grad:a = [1, 0, 0.5]
  // CHECK-NEXT: grad:b = [1, 1.5, 1]
  // CHECK-NEXT: grad:c = [1, 1, 1]
  %a_at = arith.constant dense<[2.0, 1.0, 1.0]> : tensor<3xf32>
  %b_at = arith.constant dense<[1.0, 2.0, 1.0]> : tensor<3xf32>
  %a_x = arith.addf %a, %a_at : tensor<3xf32>
  %b_x = arith.addf %b, %b_at : tensor<3xf32>
  %ab = arith.maximumf %a_x, %b_x : tensor<3xf32>
  %ab_l = nn.reduce sum "a ->"(%ab) : (tensor<3xf32>) -> tensor<f32>
  %three = arith.constant dense<[3.0, 2.0, 1.0]> : tensor<3xf32>
  %bc = arith.minimumf %b_x, %three : tensor<3xf32>
  %bc_l = nn.reduce sum "a ->"(%bc) : (tensor<3xf32>) -> tensor<f32>
  %cc = arith.maximumf %c, %c : tensor<3xf32>
  %cc_l = nn.reduce sum "a ->"(%cc) : (tensor<3xf32>) -> tensor<f32>

  // CHECK-NEXT: grad:r = [0, 0, 1]
  %side = arith.constant dense<[-1.0, 0.0, 1.0]> : tensor<3xf32>
  %r_x = arith.addf %r, %side : tensor<3xf32>
  %r_y = nn.relu %r_x : (tensor<3xf32>) -> tensor<3xf32>
  %r_l = nn.reduce sum "a ->"(%r_y) : (tensor<3xf32>) -> tensor<f32>

  // CHECK-NEXT: grad:s = [-1, 0, 1]
  %s_x = arith.addf %s, %side : tensor<3xf32>
  %s_y = math.absf %s_x : tensor<3xf32>
  %s_l = nn.reduce sum "a ->"(%s_y) : (tensor<3xf32>) -> tensor<f32>

  // A clamp to [-1, 1] at -2, -1, 0, 1: by extremes half passes at the edge, by
  // a comparison what it says.
  // CHECK-NEXT: grad:t = [0, 0.5, 1, 0.5]
  // CHECK-NEXT: grad:u = [0, 1, 1, 0]
  %at = arith.constant dense<[-2.0, -1.0, 0.0, 1.0]> : tensor<4xf32>
  %low = arith.constant dense<-1.0> : tensor<4xf32>
  %high = arith.constant dense<1.0> : tensor<4xf32>
  %t_x = arith.addf %t, %at : tensor<4xf32>
  %t_y = arith.maximumf %t_x, %low : tensor<4xf32>
  %t_z = arith.minimumf %t_y, %high : tensor<4xf32>
  %t_l = nn.reduce sum "a ->"(%t_z) : (tensor<4xf32>) -> tensor<f32>
  %u_x = arith.addf %u, %at : tensor<4xf32>
  %is_low = arith.cmpf olt, %u_x, %low : tensor<4xf32>
  %is_high = arith.cmpf oge, %u_x, %high : tensor<4xf32>
  %u_y = arith.select %is_low, %low, %u_x : tensor<4xi1>, tensor<4xf32>
  %u_z = arith.select %is_high, %high, %u_y : tensor<4xi1>, tensor<4xf32>
  %u_l = nn.reduce sum "a ->"(%u_z) : (tensor<4xf32>) -> tensor<f32>

  // One value read twice by a maximum of its repetitions: the shares add up.
  // CHECK-NEXT: grad:v = [0.5, 0.5]
  %v_x = nn.repeat "a -> b a"(%v) : (tensor<2xf32>) -> tensor<3x2xf32>
  %v_l = nn.reduce max "b a ->"(%v_x) : (tensor<3x2xf32>) -> tensor<f32>

  %0 = arith.addf %row_l, %all_l : tensor<f32>
  %1 = arith.addf %0, %ab_l : tensor<f32>
  %2 = arith.addf %1, %bc_l : tensor<f32>
  %3 = arith.addf %2, %cc_l : tensor<f32>
  %4 = arith.addf %3, %r_l : tensor<f32>
  %5 = arith.addf %4, %s_l : tensor<f32>
  %6 = arith.addf %5, %t_l : tensor<f32>
  %7 = arith.addf %6, %u_l : tensor<f32>
  %8 = arith.addf %7, %v_l : tensor<f32>
  return %8 : tensor<f32>
}
