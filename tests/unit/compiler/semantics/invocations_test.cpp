#include "checking.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

TEST(Binding, OperationsAreDeclared) {
  ExpectDiagnostics({
      {RatifiedBody("y = rellu(x);"), "binding.undeclared-operation 3:5"},
      {RatifiedBody("y = relu(rellu(x)) + s;"), "binding.undeclared-operation 3:10"},
      {RatifiedBody("y = later(x);") + "", "binding.undeclared-operation 3:5"},
      {Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = later(x); }\n"
                "fragment later( x: tensor<scalar> ) -> ( y: tensor<scalar> );"),
       ""},
      {ProvisionalBody("y = quantize_linear(x, min = 0.0, max = 1.0, bits = 8)"),
       "binding.old-name 3:5 warning"},
      {ProvisionalBody("y = pad(x, padding = [(0,0)])"), "binding.undeclared-operation 3:5"},
  });
  EXPECT_NE(Checked(RatifiedBody("y = rellu(x);")).Rendered().find("did you mean `relu`?"),
            std::string::npos);
}

TEST(Binding, Arguments) {
  ExpectDiagnostics({
      {RatifiedBody("y = relu(x, x);"), "binding.too-many-arguments 3:13"},
      {RatifiedBody("y = conv(x);"), "binding.missing-argument 3:5"},
      {RatifiedBody("y = conv(x, filter = x);"), ""},
      {RatifiedBody("y = conv(filter = x, input = x);"), ""},
      {RatifiedBody("y = conv(input = x, x);"), "binding.positional-after-named 3:21"},
      {RatifiedBody("y = conv(x, x, border = t, border = t);"), "binding.duplicate-argument 3:28"},
      {RatifiedBody("y = conv(x, x, input = x);"), "binding.positional-and-named 3:16"},
      {RatifiedBody("y = conv(x, x, strides = ns);"), "binding.unknown-argument 3:16"},
      {RatifiedBody("y = leaky_relu(x, s);"), "binding.positional-attribute 3:19"},
      {RatifiedBody("y = leaky_relu(x, alpha = s);"), ""},
      {RatifiedBody("y = clamp(x, 0.0, 1.0);"), ""},
      {ProvisionalBody("y = leaky_relu(x, s)"), ""},
      {ProvisionalBody("y = conv(x)"), "binding.missing-argument 3:5"},
  });
}

// A lenient document may have arguments that no parameter takes, unless a parameter without a value was
// meant.
TEST(Binding, SurplusArguments) {
  const auto check = [](const std::string& call) {
    return Checked("version 1.0;\ngraph g( x ) -> ( y ) { x = external(shape = [1,2]);\ny = " + call + "; }",
                   {.leniency = Leniency::kLenient})
        .Diagnostics();
  };
  EXPECT_EQ(check("elu(x, alpha = 0.5)"), "");
  EXPECT_EQ(check("elu(x, alpa = 0.5)"), "binding.unknown-argument 3:12");
  EXPECT_EQ(check("elu(x, 0.5, alpa = 0.5)"),
            "lenient.positional-attribute 3:12 warning\nlenient.surplus-argument 3:17 warning");
  EXPECT_EQ(check("elu(x, alpha = 0.5, alpa = 0.5)"), "lenient.surplus-argument 3:25 warning");
  EXPECT_EQ(check("elu(x, comment = 0.5)"), "lenient.surplus-argument 3:12 warning");
  // Arguments of other frameworks: without a parameter here, or for one that has no value.
  EXPECT_EQ(check("elu(x, inplace = true)"), "lenient.surplus-argument 3:12 warning");
  EXPECT_EQ(check("conv(x, x, strides = [1])"), "binding.unknown-argument 3:16");
  EXPECT_EQ(check("conv(x, x, stride = [1], strides = [1])"), "lenient.surplus-argument 3:30 warning");
  // Fragments of the document, too.
  EXPECT_EQ(
      Checked(Ratified("fragment own( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
                       "graph g( x ) -> ( y ) { x = external(shape = [1,2]);\ny = own(x, comment = 1); }"),
              {.leniency = Leniency::kLenient})
          .Diagnostics(),
      "lenient.surplus-argument 4:12 warning");
}

// The shape of a tensor in the form of another language is one mistake.
TEST(Binding, ShapesOfTensors) {
  EXPECT_EQ(Checked(RatifiedBody("y = reshape(x, shape = x.shape);")).Diagnostics(),
            "syntax.invalid-character 3:25");
}

TEST(Binding, IsRecorded) {
  Checked checked(RatifiedBody("y = conv(x, bias = s, filter = x);"));
  ASSERT_EQ(checked.Diagnostics(), "");
  const Binding* binding = checked.document().binding(checked.Find("conv(x, bias = s, filter = x)"));
  ASSERT_NE(binding, nullptr);
  EXPECT_EQ(binding->callee.document, checked.document().library());
  ASSERT_EQ(binding->arguments.size(), 8u);
  EXPECT_TRUE(binding->arguments[0].valid() && binding->arguments[1].valid());
  EXPECT_EQ(binding->arguments[2], checked.Find("s"));
  EXPECT_FALSE(binding->arguments[3].valid());
  EXPECT_FALSE(binding->generic.valid());
  // Wrong invocations are not bound.
  const Checked wrong(RatifiedBody("z = relu(x); y = relu(x, x) + conv(x);"));
  EXPECT_NE(wrong.document().binding(wrong.Find("relu(x)")), nullptr);
  EXPECT_EQ(wrong.document().binding(wrong.Find("relu(x, x)")), nullptr);
  EXPECT_EQ(wrong.document().binding(wrong.Find("conv(x)")), nullptr);
  // Lenient mode leaves the type open unless it is stated.
  for (const Leniency leniency : {Leniency::kStrict, Leniency::kLenient}) {
    const Checked open(RatifiedBody("z = copy(x); y = copy<scalar>(x);"), {.leniency = leniency});
    ASSERT_EQ(open.Diagnostics(), "");
    EXPECT_EQ(open.document().binding(open.Find("copy(x)"))->generic.valid(), leniency == Leniency::kStrict);
    EXPECT_TRUE(open.document().binding(open.Find("copy<scalar>(x)"))->generic.valid());
  }
}

TEST(Casts, Ratified) {
  ExpectDiagnostics({
      {RatifiedBody("y = max(x, 1.0);"), ""},
      {RatifiedBody("y = max(x, 1);"), "type.mismatch 3:12"},
      {RatifiedBody("y = max(x, n);"), "type.mismatch 3:12"},
      {RatifiedBody("y = max(x, true);"), "type.mismatch 3:12"},
      {RatifiedBody("y = max(x, l);"), "type.mismatch 3:12"},
      {RatifiedBody("z = not(true); y = x;"), ""},
      {RatifiedBody("z = not(x); y = x;"), "type.mismatch 3:9"},
      {RatifiedBody("z = cast<integer>(x); y = x;"), ""},
      {RatifiedBody("z = cast<integer>(2.0); y = x;"), ""},
      {RatifiedBody("y = conv(x, x, stride = []);"), ""},
      {RatifiedBody("y = conv(x, x, stride = [1.0]);"), "type.mismatch 3:25"},
      {RatifiedBody("y = conv(x, x, padding = [(1,2), (n,n)]);"), ""},
      {RatifiedBody("y = conv(x, x, padding = [1,2]);"), "type.mismatch 3:26"},
      {RatifiedBody("y = elu(x, alpha = 1);"), "type.mismatch 3:20"},
      {RatifiedBody("y = elu(x, alpha = x);"), "type.mismatch 3:20"},
      {RatifiedBody("y = concat([x, 1.0], axis = 0);"), ""},
      {RatifiedBody("y = add_n([0.0]);"), ""},
      {RatifiedBody("y = add_n([]);"), ""},
      {RatifiedBody("y = 1.0;"), ""},
      {RatifiedBody("y = 1;"), "type.mismatch 3:5"},
      {RatifiedBody("y = xs;"), "type.mismatch 3:5"},
  });
}

TEST(Casts, Provisional) {
  ExpectDiagnostics({
      {ProvisionalBody("y = max(x, 1.0)"), ""},
      {ProvisionalBody("y = max(x, true)"), ""},
      {ProvisionalBody("y = max(x, 1)"), "type.mismatch 3:12"},
      {ProvisionalBody("y = max(x, t)"), "type.mismatch 3:12"},
      {ProvisionalBody("z = not(x) y = x"), ""},
      {ProvisionalBody("y = batch_normalization(x, x, x, x, x, epsilon = 1)"), "type.mismatch 3:50"},
      {ProvisionalBody("y = n"), "type.mismatch 3:5"},
  });
}

TEST(Casts, FixesAreTold) {
  auto fix = [](std::string text) {
    const Checked checked(std::move(text));
    const Diagnostic& diagnostic = checked.context().emitter.diagnostics().at(0);
    std::string fixes;
    for (const FixIt& fix : diagnostic.fixes)
      fixes += fmt::format("{}-{} {};", fix.range.begin, fix.range.end, fix.text);
    return fixes.substr(fixes.find(' ') + 1);
  };
  EXPECT_EQ(fix(RatifiedBody("y = max(x, 1);")), ".0;");
  EXPECT_EQ(fix(RatifiedBody("y = max(x, -1);")), ".0;");
  EXPECT_EQ(fix(RatifiedBody("y = max(x, n);")), "scalar(n);");
  EXPECT_EQ(fix(RatifiedBody("y = max(x, n + 1);")), "scalar(n + 1);");
  EXPECT_EQ(fix(RatifiedBody("y = max(x, true);")), "");
}

TEST(Generics, AreDeduced) {
  ExpectDiagnostics({
      {RatifiedBody("y = copy(x);"), ""},
      {RatifiedBody("y = copy<scalar>(x);"), ""},
      {RatifiedBody("y = copy<integer>(x);"), "type.mismatch 3:19"},
      {RatifiedBody("y = select(l, x, 0.0);"), ""},
      {RatifiedBody("y = select(l, x, 0);"), "generic.contradiction 3:5"},
      {RatifiedBody("y = select(l, x, l);"), "generic.contradiction 3:5"},
      {RatifiedBody("y = cast(x);"), "generic.undeduced 3:5"},
      {RatifiedBody("y = concat([], axis = 0);"), "generic.undeduced 3:5"},
      {RatifiedBody("y = relu<scalar>(x);"), "generic.not-generic 3:10"},
      {RatifiedBody("y = copy<?>(x);"), "generic.outside-generic-body 3:10"},
      {RatifiedGraph("v = variable(shape = [1], label = 'v'); y = relu(v);"), ""},
      {RatifiedGraph("v = variable<integer>(shape = [1], label = 'v'); y = relu(v);"), "type.mismatch 4:59"},
      {RatifiedGraph("y = constant(shape = [1], value = [1.0]);"), ""},
      {RatifiedGraph("y = constant(shape = [1], value = [1]);"), "type.mismatch 4:35"},
      {RatifiedGraph("y = constant<integer>(shape = [1], value = [1]);"), ""},
      {RatifiedGraph("y = constant<logical>(shape = [1], value = [1]);"), "type.mismatch 4:44"},
  });
}

TEST(Generics, ArePassedOn) {
  Checked checked(Ratified(
      "fragment f<?>( x: tensor<?>, v: ? ) -> ( y: tensor<?> ) {\n"
      "a = copy<?>(x); b = select(true, a, v); c = constant<?>(shape = [1], value = [v]); y = copy(b);\n}"));
  ASSERT_EQ(checked.Diagnostics(), "");
  const Binding* binding = checked.document().binding(checked.Find("copy(b)"));
  ASSERT_NE(binding, nullptr);
  EXPECT_EQ(checked.document().types().Kind(binding->generic), TypeKind::kGeneric);
  ExpectDiagnostics({
      {Ratified("fragment f<?>( x: tensor<?>, v: ? ) -> ( y: tensor<?> ) {\ny = x + 1.0;\n}"),
       "type.mismatch 3:5"},
      {Ratified("fragment f<?>( x: tensor<?>, v: ? = 1 ) -> ( y: tensor<?> );\n"
                "graph g( x ) -> ( y ) { x = external(shape = [1]); y = f(x); }"),
       "type.mismatch 3:56"},
  });
}

TEST(Chaining, OnlySingleTensorsRatified) {
  ExpectDiagnostics({
      {RatifiedBody("y = relu(copy(x));"), ""},
      {RatifiedBody("y = softmax(x, axes = neg(x));"), "type.mismatch 3:23"},
      {RatifiedBody("y = select(neg(x), x, x);"), "type.mismatch 3:12"},
      {RatifiedBody("y = add_n(copy_n(x, times = 2));"), "binding.chained-results 3:11"},
      {RatifiedBody("a = copy_n(x, times = 2); y = add_n(a);"), ""},
      {RatifiedBody("m = moments(x, axes = ns); y = m[0];"), ""},
      {Ratified(
           "fragment f( x: (tensor<scalar>,tensor<scalar>) ) -> ( y: tensor<scalar> ) { y = x[0]; }\n"
           "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f(moments(x, axes = [1]));\n}"),
       "binding.chained-results 4:7"},
      {Provisional("fragment f( x: (tensor,tensor) ) -> ( y: tensor ) { y = x[0] }\n"
                   "fragment h( x: tensor ) -> ( y: tensor ) {\ny = f(moments(x, axes = [1]))\n}"),
       ""},
      {ProvisionalBody("y = relu(moments(x, axes = ns))"), "type.mismatch 3:10"},
  });
}

TEST(Cascades, BrokenDeclarationsAreNotJudgedAgain) {
  ExpectDiagnostics({
      {Ratified("fragment f( x tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = nothing + x;\n}\n"
                "fragment h( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {\ny = f(x, 1, a = 2);\n}"),
       "syntax.unexpected-token 2:14"},
      {RatifiedBody("z = rellu(x); w = z + 1; y = w[0] * z;"), "binding.undeclared-operation 3:5"},
      {RatifiedBody("a, c = relu(nope); y = a + c;"), "assignment.structure 3:1\nidentifier.undefined 3:13"},
  });
}

}  // namespace
}  // namespace nnefc::semantics
