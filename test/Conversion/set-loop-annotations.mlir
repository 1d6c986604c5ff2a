// RUN: dist-opt %s --dist-set-loop-annotations --mlir-print-op-generic | FileCheck %s

// The hint of a structured loop, which lowering left as a discardable attribute,
// becomes the branch's own: only that one reaches LLVM.
// CHECK: #[[HINT:.*]] = #llvm.loop_annotation<interleave
// CHECK: "llvm.br"(){{.*}} <{loop_annotation = #[[HINT]]}>
// CHECK-NOT: llvm.loop_annotation =
#interleave = #llvm.loop_interleave<count = 4 : i32>
#hint = #llvm.loop_annotation<interleave = #interleave>
llvm.func @loop() {
  llvm.br ^bb1 {llvm.loop_annotation = #hint}
^bb1:
  llvm.return
}
