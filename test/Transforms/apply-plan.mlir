// RUN: dist-opt %s --dist-apply-plan='mesh=dp=2,tp=4 constraints={h.*.up=[[], ["tp"]],wte=[["tp"], []]}' | FileCheck %s
// RUN: dist-opt %s --dist-apply-plan | FileCheck %s --check-prefix=NONE

// A star does not cross dots; states follow their parameter.
// CHECK: dist.mesh @mesh <["dp"=2, "tp"=4]>
// CHECK-LABEL: @step
// CHECK-SAME: %[[A:arg[0-9]+]]: tensor<8x16xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], ["tp"]]>, nn.param = "h.0.up"}
// CHECK-SAME: tensor<8x16xf32> {nn.param = "h.0.mlp.up"}
// CHECK-SAME: tensor<16x8xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"tp"], []]>, nn.param = "wte"}
// CHECK-SAME: tensor<8x16xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], ["tp"]]>, nn.state = "m:h.0.up"}
// NONE-NOT: dist.mesh
func.func @step(%a: tensor<8x16xf32> {nn.param = "h.0.up"}, %b: tensor<8x16xf32> {nn.param = "h.0.mlp.up"},
                %c: tensor<16x8xf32> {nn.param = "wte"}, %m: tensor<8x16xf32> {nn.state = "m:h.0.up"}) {
  return
}
