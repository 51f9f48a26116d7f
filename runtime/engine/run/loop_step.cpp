// The step of a plan that executes TensorIterator or Loop.

#include <cstring>

#include "runtime/engine/run/body_values.h"
#include "runtime/engine/run/loop_outputs.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::run {

using kernels::FaultOr;

namespace {

// TensorIterator-1 and Loop-5. Copies are avoided where layouts permit: slices along the outermost axis are
// read and written in place, and a back edge passes on the pointer to its result.
class LoopStep final : public ControlStep {
 public:
  LoopStep(const plan::Step& step, RunEnvironment& environment)
      : step_(step),
        node_(*step.node),
        body_(step.node->bodies()[0]),
        environment_(environment),
        frames_(body_, step.bodies[0], environment),
        slices_(body_.graph->parameters().size(), BufferPool(environment.memory)) {
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0) continue_ = static_cast<size_t>(mapping.internal);
    }
  }

  FaultOr<Success> Run(Frame& outer) override {
    FaultOr<Success> done = RunLoop(outer);
    parameters_.clear();
    places_.clear();
    return done;
  }

 private:
  // The value of a body parameter in an iteration.
  struct Parameter {
    HeldBytes held;
    Shape shape;
  };

  FaultOr<Success> RunLoop(Frame& outer) {
    FaultOr<std::optional<int64_t>> count = Count(outer);
    if (!count) return count.error();
    FaultOr<bool> more = Condition(outer);
    if (!more) return more.error();
    plan::PlannedInputs inputs = plan::FirstInputsOf(body_, FactsOf(outer, step_));
    FeedFirst(outer, inputs);
    frame_ = nullptr;
    LoopOutputs outputs(step_, outer, KnownCount(outer, *count));
    int64_t iteration = 0;
    for (; *more && (!*count || iteration < **count); ++iteration) {
      if (environment_.iterations_left-- <= 0) {
        return kernels::FaultOf(
            kernels::kRuntimeIterations,
            "the loops of this run made {} iterations; `--max-iterations` raises the limit",
            environment_.plan_options.limits.iterations);
      }
      more = RunIteration(outer, inputs, outputs, iteration);
      if (more) continue;
      kernels::Fault fault = more.error();
      fault.message = fmt::format("iteration {}: {}", iteration, fault.message);
      return fault;
    }
    if (*more && trips_ > iteration)
      return kernels::KernelFault("the trip count is {}; its inputs are cut into {} parts", trips_,
                                  iteration);
    return Finish(outer, outputs, iteration);
  }

  // Returns the number of iterations if the loop cannot end early. A Loop cannot if the shape of one of its
  // concatenated outputs was inferred.
  std::optional<int64_t> KnownCount(const Frame& outer, std::optional<int64_t> count) const {
    if (!plan::IsLoop(node_)) return count;
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0 || !mapping.axis) continue;
      if (!outer.IsHeap(step_.outputs[static_cast<size_t>(mapping.external)])) return count;
    }
    return std::nullopt;
  }

  FaultOr<std::optional<int64_t>> Count(const Frame& outer) {
    std::optional<int64_t> trips;
    if (plan::IsLoop(node_)) {
      const tensor::TensorView& view = outer.view(step_.inputs[0]);
      if (view.volume() != 1)
        return kernels::KernelFault("its trip count has the shape {}", ToString(view.shape()));
      trips = tensor::ElementsAsInts(view)[0];
    }
    trips_ = trips.value_or(-1);
    std::vector<Shape> shapes;
    shapes.reserve(step_.inputs.size());
    for (plan::ValueId id : step_.inputs) shapes.push_back(outer.view(id).shape());
    return plan::CountLoop(node_, shapes, trips);
  }

  // Returns the condition of a Loop before its first iteration.
  FaultOr<bool> Condition(const Frame& outer) const {
    if (!plan::IsLoop(node_)) return true;
    return IsTrue(outer.view(step_.inputs[1]));
  }
  static FaultOr<bool> IsTrue(const tensor::TensorView& condition) {
    if (condition.type() == ElementType::kBoolean && condition.volume() == 1)
      return condition.bytes()[0] != std::byte{0};
    return kernels::KernelFault("its condition is {}{}; expected one element of type boolean",
                                Name(condition.type()), ToString(condition.shape()));
  }

  // Sets merged and invariant inputs. Slices and the iteration number are set in each iteration.
  void FeedFirst(const Frame& outer, const plan::PlannedInputs& inputs) {
    parameters_.assign(inputs.shapes.size(), {});
    for (const ir::InputMapping& mapping : body_.inputs) {
      Parameter& parameter = parameters_[static_cast<size_t>(mapping.internal)];
      parameter.shape = inputs.shapes[static_cast<size_t>(mapping.internal)];
      if (mapping.external >= 0 && !mapping.axis) parameter.held.bytes = Input(outer, mapping).bytes();
    }
  }
  const tensor::TensorView& Input(const Frame& outer, const ir::InputMapping& mapping) const {
    return outer.view(step_.inputs[static_cast<size_t>(mapping.external)]);
  }

  // Runs one iteration. Returns whether the body requests another.
  FaultOr<bool> RunIteration(Frame& outer, plan::PlannedInputs& inputs, LoopOutputs& outputs,
                             int64_t iteration) {
    if (iteration > 0) {
      if (FaultOr<Success> passed = FollowBackEdges(inputs); !passed) return passed.error();
    }
    if (FaultOr<Success> fed = FeedIteration(outer, iteration); !fed) return fed.error();
    if (frame_ == nullptr || frame_->plan().input_shapes != inputs.shapes) {
      FaultOr<Frame*> frame = frames_.Get(inputs);
      if (!frame) return frame.error();
      frame_ = *frame;
    }
    for (size_t i = 0; i < parameters_.size(); ++i) frame_->SetInput(i, parameters_[i].held.bytes);
    if (FaultOr<Success> placed = PlaceResults(outputs, iteration); !placed) return placed.error();
    if (FaultOr<Success> done = frame_->Run(); !done) return done.error();
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0 || !mapping.axis) continue;
      const tensor::TensorView& part = frame_->result(static_cast<size_t>(mapping.internal));
      if (FaultOr<Success> added = outputs.Add(mapping, part, iteration); !added) return added.error();
    }
    if (!continue_) return true;
    return IsTrue(frame_->result(*continue_));
  }

  FaultOr<Success> FeedIteration(const Frame& outer, int64_t iteration) {
    for (const ir::InputMapping& mapping : body_.inputs) {
      if (mapping.external >= 0 && !mapping.axis) continue;
      Parameter& parameter = parameters_[static_cast<size_t>(mapping.internal)];
      BufferPool& pool = slices_[static_cast<size_t>(mapping.internal)];
      parameter.held.keep = nullptr;
      FaultOr<HeldBytes> held =
          mapping.external < 0 ? IterationNumber(mapping, iteration, pool)
                               : SliceOf(Input(outer, mapping), mapping, parameter.shape, iteration, pool);
      if (!held) return held.error();
      parameter.held = *held;
    }
    return Success();
  }

  FaultOr<HeldBytes> IterationNumber(const ir::InputMapping& mapping, int64_t iteration,
                                     BufferPool& pool) const {
    const ir::Graph& graph = *body_.graph;
    const ElementType type =
        graph.node(graph.parameters()[static_cast<size_t>(mapping.internal)]).output().type;
    const size_t bytes = type == ElementType::kI32 ? sizeof(int32_t) : sizeof(int64_t);
    if (bytes == sizeof(int64_t) && type != ElementType::kI64)
      return kernels::KernelFault("the number of the iteration has elements of type {}; expected i64 or i32",
                                  Name(type));
    const std::shared_ptr<Buffer> buffer = pool.Take(bytes);
    if (buffer == nullptr) return BeyondBudget();
    const auto narrow = static_cast<int32_t>(iteration);
    const void* source = bytes == sizeof(int32_t) ? static_cast<const void*>(&narrow) : &iteration;
    std::memcpy(buffer->mutable_data(), source, bytes);
    return HeldBytes{buffer->data(), buffer};
  }

  // Assigns memory to the buffer of each result: a slice of an output, or else a buffer that no parameter of
  // this iteration reads.
  FaultOr<Success> PlaceResults(LoopOutputs& outputs, int64_t iteration) {
    const plan::Plan& plan = frame_->plan();
    places_.assign(plan.outputs.size(), {});
    if (FaultOr<Success> placed = outputs.Place(plan, iteration, places_); !placed) return placed.error();
    if (pools_.size() < places_.size()) pools_.resize(places_.size(), BufferPool(environment_.memory));
    for (size_t i = 0; i < places_.size(); ++i) {
      if (places_[i].bytes == nullptr) {
        std::shared_ptr<Buffer> buffer = pools_[i].Take(frame_->value(plan.outputs[i]).bytes);
        if (buffer == nullptr) return BeyondBudget();
        places_[i] = {buffer->data(), buffer};
      }
      frame_->SetOutput(i, places_[i].bytes);
    }
    return Success();
  }

  // Passes results of the finished iteration to parameters. A result may itself be a parameter, so all are
  // read first.
  FaultOr<Success> FollowBackEdges(plan::PlannedInputs& inputs) {
    next_.clear();
    for (const ir::BackEdge& edge : body_.back_edges) {
      const auto index = static_cast<size_t>(edge.result);
      const tensor::TensorView& result = frame_->result(index);
      const ir::Graph& graph = *body_.graph;
      const ElementType expected =
          graph.node(graph.parameters()[static_cast<size_t>(edge.parameter)]).output().type;
      if (result.type() != expected) {
        return kernels::KernelFault("a back edge brings elements of type {}; expected {}",
                                    Name(result.type()), Name(expected));
      }
      next_.push_back({{result.bytes(), HolderOf(index)}, result.shape()});
    }
    for (size_t i = 0; i < body_.back_edges.size(); ++i) {
      const auto parameter = static_cast<size_t>(body_.back_edges[i].parameter);
      if (inputs.shapes[parameter] != next_[i].shape) inputs.shapes[parameter] = next_[i].shape;
      parameters_[parameter] = std::move(next_[i]);
    }
    return Success();
  }

  // Returns the owner of a result's bytes while the next iteration runs.
  std::shared_ptr<const Buffer> HolderOf(size_t result) const {
    if (const TensorValue* value = frame_->heap_result(result)) return value->buffer();
    const plan::PlanValue& root = frame_->value(frame_->plan().results[result].root);
    if (root.storage == plan::PlanValue::Storage::kConstant) return root.data;
    if (root.output >= 0) return places_[static_cast<size_t>(root.output)].keep;
    if (root.input >= 0) return parameters_[static_cast<size_t>(root.input)].held.keep;
    return nullptr;
  }

  FaultOr<Success> Finish(Frame& outer, LoopOutputs& outputs, int64_t iterations) {
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0) continue;
      const plan::ValueId output = step_.outputs[static_cast<size_t>(mapping.external)];
      FaultOr<Success> done = Success();
      if (mapping.axis) {
        done = outputs.Deliver(mapping, iterations);
      } else if (iterations == 0) {
        done = DeliverInitial(outer, mapping, output);
      } else {
        const auto result = static_cast<size_t>(mapping.internal);
        done = Deliver(outer, output, frame_->result(result), {});
      }
      if (!done) return done.error();
    }
    return Success();
  }

  // Without iterations the output is the initial state.
  FaultOr<Success> DeliverInitial(Frame& outer, const ir::OutputMapping& mapping,
                                  plan::ValueId output) const {
    for (const ir::BackEdge& edge : body_.back_edges) {
      if (edge.result != mapping.internal) continue;
      for (const ir::InputMapping& input : body_.inputs) {
        if (input.internal == edge.parameter) return Deliver(outer, output, Input(outer, input), {});
      }
    }
    return kernels::KernelFault(
        "it makes no iteration, and output {} is not a state that it has before the first", mapping.external);
  }

  const plan::Step& step_;
  const ir::Node& node_;
  const ir::Body& body_;
  RunEnvironment& environment_;
  BodyFrames frames_;
  std::optional<size_t> continue_;  // index of the result that is the condition of a Loop
  Frame* frame_ = nullptr;          // the current iteration's
  std::vector<BufferPool> slices_;  // one per parameter
  std::vector<BufferPool> pools_;   // one per output of the frame
  std::vector<Parameter> parameters_, next_;
  int64_t trips_ = -1;             // trip count of a Loop; negative if unbounded
  std::vector<HeldBytes> places_;  // one per output of the frame
};

}  // namespace

std::unique_ptr<ControlStep> MakeLoopStep(const plan::Step& step, RunEnvironment& environment) {
  return std::make_unique<LoopStep>(step, environment);
}

}  // namespace nnefc::runtime::engine::run
