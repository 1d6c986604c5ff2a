// RUN: %compare-program --mesh x=2,y=2 --mesh x=2,y=2 --print %s | FileCheck %s

// The summed dimension lies over two axes: the result owes a sum over both.
// Where it is wanted split over one of them, that one is scattered.
// CHECK-LABEL: func.func @step(
// CHECK: nn.einsum "b k, k d -> b d"{{.*}}partial sum ["x", "y"]
dist.mesh @mesh <["x"=2, "y"=2]>

func.func @loss(%x: tensor<4x8xf32> {nn.input = "x", dist.sharding = #dist.sharding<@mesh, [[], ["x", "y"]]>},
    %w: tensor<8x8xf32> {nn.param = "w", nn.init = "normal 0.2", dist.sharding = #dist.sharding<@mesh, [["x", "y"], []]>}) -> tensor<f32> {
  %h = nn.einsum "b k, k d -> b d"(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = dist.constraint %h <@mesh, [["x"], []]> : tensor<4x8xf32>
  %t = math.tanh %c : tensor<4x8xf32>
  %l = nn.reduce mean "b d ->"(%t) : (tensor<4x8xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
