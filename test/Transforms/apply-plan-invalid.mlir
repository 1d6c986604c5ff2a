// RUN: split-file %s %t
// RUN: not dist-opt %t/mesh.mlir --dist-apply-plan=mesh=dp=4 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not dist-opt %t/step.mlir --dist-apply-plan=constraints=w=[[]] 2>&1 | FileCheck %s --check-prefix=NOMESH
// RUN: not dist-opt %t/step.mlir --dist-apply-plan='mesh=tp=2 constraints=h.*=[[]]' 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not dist-opt %t/step.mlir --dist-apply-plan='mesh=tp=2 constraints=w=[[],[]]' 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not dist-opt %t/step.mlir --dist-apply-plan='mesh=tp=2 constraints=w=[["dp"]]' 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not dist-opt %t/step.mlir --dist-apply-plan='mesh=tp=2 constraints=w=[[tp]]' 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not dist-opt %t/step.mlir --dist-apply-plan='mesh=tp=2 constraints=w=[["tp"]],*=[[]]' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not dist-opt %t/step.mlir --dist-apply-plan='mesh=tp=0' 2>&1 | FileCheck %s --check-prefix=SIZE

// MESH: is dp=2, but the plan's mesh is dp=4
// MESH: leave one of the two out
// NOMESH: the plan has constraints, but the module has no mesh
// GLOB: constraint 'h.*' matches no parameter
// GLOB: parameters are w
// RANK: sharding has 2 dimensions, but the tensor is 'tensor<8xf32>'
// AXIS: constraint 'w': sharding {{.*}}sharding names an unknown axis "dp"
// TEXT: constraint 'w': sharding {{.*}}expected string
// TWICE: parameter 'w' is asked to be {{.*}} and, by constraint '*',
// SIZE: mesh.tp: is 0, but must lie in [1,

//--- mesh.mlir
dist.mesh @mesh <["dp"=2]>
//--- step.mlir
func.func @step(%w: tensor<8xf32> {nn.param = "w"}) {
  return
}
