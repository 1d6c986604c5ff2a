//===- Evaluation.h - How ops are evaluated ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIST_INTERPRETER_EVALUATION_H
#define DIST_INTERPRETER_EVALUATION_H

#include "dist/Dialect/Dist/IR/Dist.h"
#include "dist/Interpreter/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace dist::interp {

class Interpreter;

struct InterpreterOptions {
  /// All floats are f64, and so casts between them the identity.
  bool f64 = false;
  /// The step that messages name.
  int64_t step = 1;
};

/// The results of one op on one rank, or a failure whose error is out.
class Results {
public:
  Results(Tensor tensor) { tensors.push_back(std::move(tensor)); }
  Results(llvm::SmallVector<Tensor, 1> tensors) : tensors(std::move(tensors)) {}
  Results(mlir::LogicalResult failure) : isFailure(true) {
    assert(mlir::failed(failure) && "success without results");
  }
  Results(mlir::InFlightDiagnostic) : isFailure(true) {}
  Results(mlir::FailureOr<Tensor> tensor) : isFailure(mlir::failed(tensor)) {
    if (!isFailure)
      tensors.push_back(std::move(*tensor));
  }

  bool failed() const { return isFailure; }
  llvm::SmallVector<Tensor, 1> tensors;

private:
  bool isFailure = false;
};

/// One op on one rank: what an evaluator reads.
struct Evaluation {
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> operands;
  const InterpreterOptions &options;
  MeshOp mesh; ///< null on one device
  int64_t rank;

  /// The tensor of an operand of the op.
  const Tensor &operator[](mlir::Value operand) const;
  /// The same for an optional operand; null where it is not there.
  const Tensor *lookup(mlir::Value operand) const {
    return operand ? &(*this)[operand] : nullptr;
  }

  /// The kind of a type's elements under the options.
  ElementKind getKind(mlir::Type type) const;

  /// Zeros of the type of result `number`.
  Tensor makeResult(unsigned number = 0) const;
  /// Result `number` from values that are rounded or wrapped to its type.
  Tensor makeResult(std::vector<double> values, unsigned number = 0) const;
  Tensor makeResult(std::vector<int64_t> values, unsigned number = 0) const;

  /// Where this rank's block of dimension `dim` lies in the global tensor;
  /// `[0, size)` without a place.
  std::pair<int64_t, int64_t> getBlock(PlaceAttr place, int64_t dim,
                                       int64_t size) const;
  /// The row-major index in the global tensor of every element of this rank's
  /// block of `shape`.
  std::vector<int64_t> getGlobalIndices(PlaceAttr place,
                                        llvm::ArrayRef<int64_t> shape) const;

  /// An error on the op that names the step.
  mlir::InFlightDiagnostic emitError() const;

  /// Checks that all `ids` (`ignored` aside) are in [0, bound).
  mlir::LogicalResult
  checkIds(const Tensor &ids, int64_t bound,
           std::optional<int64_t> ignored = std::nullopt) const;
};

/// One op on all ranks: what the evaluator of a collective reads.
struct RankEvaluation {
  mlir::Operation *op;
  llvm::ArrayRef<RankTensors> operands; ///< by operand, then by rank
  Interpreter &interpreter;
  MeshOp mesh; ///< null on one device
  int64_t numRanks;
};

using RankResults = mlir::FailureOr<llvm::SmallVector<RankTensors, 1>>;

/// Evaluators by op, added by family: see `populate…Evaluators`.
class EvaluatorRegistry {
public:
  using Local = std::function<Results(const Evaluation &)>;
  using Collective = std::function<RankResults(const RankEvaluation &)>;

  /// An op whose results on a rank depend on that rank's operands only.
  template <typename OpTy>
  void add(Results (*evaluate)(OpTy, const Evaluation &)) {
    local[mlir::TypeID::get<OpTy>()] = [evaluate](const Evaluation &at) {
      return evaluate(llvm::cast<OpTy>(at.op), at);
    };
  }

  /// An op that needs the operands of all ranks.
  template <typename OpTy>
  void addCollective(RankResults (*evaluate)(OpTy, const RankEvaluation &)) {
    collective[mlir::TypeID::get<OpTy>()] =
        [evaluate](const RankEvaluation &at) {
          return evaluate(llvm::cast<OpTy>(at.op), at);
        };
  }

  /// Null where there is none.
  const Local *lookupLocal(mlir::Operation *op) const;
  const Collective *lookupCollective(mlir::Operation *op) const;

private:
  llvm::DenseMap<mlir::TypeID, Local> local;
  llvm::DenseMap<mlir::TypeID, Collective> collective;
};

void populateArithEvaluators(EvaluatorRegistry &registry);
void populateMathEvaluators(EvaluatorRegistry &registry);
void populateStructuralEvaluators(EvaluatorRegistry &registry);
void populateElementwiseEvaluators(EvaluatorRegistry &registry);
void populateNormalizationEvaluators(EvaluatorRegistry &registry);
void populateAttentionEvaluators(EvaluatorRegistry &registry);
void populateIndexingEvaluators(EvaluatorRegistry &registry);
void populateShapeEvaluators(EvaluatorRegistry &registry);
void populateRandomEvaluators(EvaluatorRegistry &registry);
void populateCollectiveEvaluators(EvaluatorRegistry &registry);
void populateControlEvaluators(EvaluatorRegistry &registry);

} // namespace dist::interp

#endif // DIST_INTERPRETER_EVALUATION_H
