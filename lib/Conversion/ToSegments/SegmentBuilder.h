//===- SegmentBuilder.h - Buffers and calls of one segment ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_LIB_CONVERSION_TOSEGMENTS_SEGMENTBUILDER_H
#define DIST_LIB_CONVERSION_TOSEGMENTS_SEGMENTBUILDER_H

#include "dist/Dialect/NN/IR/NN.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace dist {

/// Where the elements of a tensor lie: in a contiguous buffer `root`, element
/// (i, j, …) at `offset + i·strides[0] + j·strides[1] + …`.
struct View {
  mlir::Value root;
  int64_t offset = 0;
  llvm::SmallVector<int64_t, 5> strides;

  bool operator==(const View &) const = default;
};

/// What the segments of a module share: kernels of equal text are one,
/// descriptors are constants, communicators have numbers.
class ProgramPool {
public:
  explicit ProgramPool(mlir::ModuleOp module) : module(module) {}

  /// The kernel of the same text as `kernel`, which may be `kernel`.
  mlir::func::FuncOp intern(mlir::func::FuncOp kernel);
  /// A constant array of 64-bit words.
  mlir::LLVM::GlobalOp internWords(llvm::ArrayRef<int64_t> words);
  /// A constant string, with its final zero.
  mlir::LLVM::GlobalOp internText(llvm::StringRef text);
  /// The declaration of a function of the runtime.
  mlir::LLVM::LLVMFuncOp declare(llvm::StringRef name, mlir::Type result,
                                 mlir::TypeRange arguments);
  int64_t getCommunicator(AxesAttr axes);
  llvm::ArrayRef<AxesAttr> getCommunicators() const { return communicators; }
  mlir::ModuleOp getModule() const { return module; }

private:
  mlir::ModuleOp module;
  llvm::StringMap<mlir::func::FuncOp> kernels;
  llvm::StringMap<mlir::LLVM::GlobalOp> globals;
  llvm::SmallVector<AxesAttr> communicators;
};

/// Builds the body of one segment: assigns a view to every value, memory of
/// the workspace to those that need it, and writes the calls.
class SegmentBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// `replaced` says by result which argument's memory it may take, or -1.
  SegmentBuilder(mlir::func::FuncOp segment, ProgramPool &pool,
                 llvm::ArrayRef<int64_t> replaced);

  ProgramPool &getPool() { return pool; }
  mlir::Value getRank() { return rank; }

  bool hasView(mlir::Value value) const { return views.contains(value); }
  const View &getView(mlir::Value value) const {
    return views.find(value)->second;
  }
  void setView(mlir::Value value, View view) { views[value] = std::move(view); }

  /// Gives `value` a buffer of its own whose dimensions lie in the order
  /// `order`, major to minor; the segment's result buffer if it is one, or that
  /// of the argument which it replaces if that is not read any more.
  const View &allocate(mlir::Value value, llvm::ArrayRef<int64_t> order = {});
  /// Lets `value` be computed where the argument lies that it replaces, if all
  /// that still reads that argument are elementwise ops of `kernel`.
  bool replaceArgument(mlir::Value value,
                       llvm::ArrayRef<mlir::Operation *> kernel);
  /// Gives `value` its own result buffer again.
  void leaveArgument(mlir::Value value);
  /// Says that `op` reads nothing any more that it does not give a view of.
  void markLowered(mlir::Operation *op) { lowered.insert(op); }
  /// The result buffer of `value` if the segment returns it.
  std::optional<View> lookupResult(mlir::Value value) const;
  /// A buffer of the workspace for a contiguous tensor of `type`.
  View allocateTemporary(mlir::RankedTensorType type);
  /// True if the buffer of `value` is of the workspace and `value` all of it.
  bool ownsTemporary(mlir::Value value) const;

  /// The memref through which `type` is read or written at `view`. Keeps the
  /// buffer alive up to here.
  mlir::Value getMemref(const View &view, mlir::RankedTensorType type);
  mlir::Value getMemref(mlir::Value value) {
    return getMemref(getView(value),
                     mlir::cast<mlir::RankedTensorType>(value.getType()));
  }
  /// A pointer to the first element.
  mlir::Value getPointer(const View &view, mlir::RankedTensorType type);
  mlir::Value getPointer(mlir::Value value) {
    return getPointer(getView(value),
                      mlir::cast<mlir::RankedTensorType>(value.getType()));
  }

  /// Bytes of scratch memory during the current unit only.
  mlir::Value getScratch(int64_t bytes);

  mlir::Value constantI64(int64_t value);
  mlir::Value constantI32(int64_t value);
  mlir::Value addressOf(mlir::LLVM::GlobalOp global);
  /// Calls a function of the runtime; the result, if it has one.
  mlir::Value callRuntime(llvm::StringRef name, mlir::ValueRange arguments,
                          mlir::Type result = {});

  /// Tells traces what the segment does from here on, see dist_mark.
  void mark(llvm::StringRef kind, llvm::StringRef name);

  /// Position of this device in the row-major grid of `axes`, as i64.
  mlir::Value getGroupIndex(llvm::ArrayRef<AxisAttr> axes);

  /// The next op that needs memory starts: buffers end where they are last
  /// touched.
  void nextUnit() { ++unit; }

  /// Copies results that lie elsewhere, places the workspace, returns.
  mlir::LogicalResult
  finish(llvm::function_ref<mlir::LogicalResult(mlir::RankedTensorType,
                                                const View &, const View &)>
             copy);

private:
  struct Temporary {
    mlir::memref::ViewOp view;
    mlir::arith::ConstantIndexOp offset;
    int64_t bytes;
    unsigned begin, end;
  };
  int64_t place();
  bool isReadLater(mlir::Value value,
                   llvm::ArrayRef<mlir::Operation *> kernel) const;
  void markInPlace();

  ProgramPool &pool;
  mlir::func::FuncOp segment, body;
  mlir::Value rank, workspace;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, unsigned> resultOf; ///< returned value, position
  llvm::SmallVector<View> resultViews;
  llvm::SmallVector<int64_t> replaced; ///< arguments, by result
  llvm::DenseSet<mlir::Operation *> lowered;
  llvm::SmallVector<Temporary> temporaries;
  llvm::DenseMap<mlir::Value, unsigned> temporaryOf; ///< by root
  unsigned unit = 0;
};

/// Strides of a contiguous tensor of `shape` whose dimensions lie in `order`.
llvm::SmallVector<int64_t, 5> getStrides(llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<int64_t> order = {});

/// The memref type of `type` at `view`.
mlir::MemRefType getMemrefType(const View &view, mlir::RankedTensorType type);

bool isContiguous(const View &view, mlir::RankedTensorType type);

} // namespace dist

#endif // DIST_LIB_CONVERSION_TOSEGMENTS_SEGMENTBUILDER_H
