// Names of operations on shapes in other frameworks, with their NNEF equivalents.

#include "compiler/semantics/foreign/operation.h"

namespace nnefc::semantics::foreign {
namespace {

constexpr std::string_view kSlice = "`slice(x, axes = .., begin = .., end = ..)` cuts";
constexpr std::string_view kScatter =
    "tract's `tract_core_scatter_elements` and `tract_core_scatter_nd` are for its documents";
constexpr std::string_view kBroadcast = "operations broadcast by themselves; `tile(x, repeats = ..)` repeats";

constexpr ForeignOperation kShapes[] = {
    // Joining and splitting.
    RenamedIf("axis", "cat concatenate concatv2 join", "concat", "concat([x, y], axis = ..)"),
    Computed("hstack columnstack", "concat([x, y], axis = 1)", "for tensors of rank 2 and more"),
    Computed("vstack rowstack append", "concat([x, y], axis = 0)", "for tensors of rank 2 and more"),
    Computed("dstack", "concat([x, y], axis = 2)", "for tensors of rank 3 and more"),
    RenamedIf("axis", "pack", "stack", "stack([x, y], axis = ..)"),
    RenamedIf("axis", "unbind unpack", "unstack", "[y, z] = unstack(x, axis = ..);"),
    Computed("chunk arraysplit tensorsplit", "[y, z] = split(x, axis = .., ratios = [1,1]);",
             "for two parts"),
    Computed("hsplit", "[y, z] = split(x, axis = 1, ratios = [1,1]);", "for two parts"),
    Computed("vsplit", "[y, z] = split(x, axis = 0, ratios = [1,1]);", "for two parts"),
    Computed("dsplit", "[y, z] = split(x, axis = 2, ratios = [1,1]);", "for two parts"),
    // Dimensions.
    RenamedIf("axes", "expanddims", "unsqueeze", "unsqueeze(x, axes = ..)"),
    RenamedIf("shape", "view reshapelike unflatten", "reshape", "reshape(x, shape = ..)"),
    Computed("flatten", "reshape(x, shape = [-1])", "", "PyTorch"),
    Computed("flatten", "reshape(x, shape = [0,-1])", "", "torch.nn, ONNX, Keras, Caffe"),
    Computed("ravel", "reshape(x, shape = [-1])"),
    RenamedIf("axes", "permute", "transpose", "transpose(x, axes = ..)"),
    Computed("swapaxes swapdims", "transpose(x, axes = [0,2,1])", "for axes 1 and 2 of 3"),
    Computed("t matrixtranspose", "transpose(x, axes = [1,0])", "for rank 2"),
    Missing("moveaxis movedim rollaxis", "`transpose(x, axes = ..)` orders all axes"),
    Missing("viewas reshapeas atleast1d atleast2d atleast3d collapse asstrided",
            "`reshape(x, shape = ..)` does so"),
    Missing("broadcastto broadcastintwodims expand expandas broadcastintodims broadcastindim broadcasttorank "
            "broadcastarrays broadcasttensors broadcastshapes broadcast sumtosize",
            kBroadcast),
    // Parts.
    RenamedIf("axes begin end", "stridedslice", "slice", "slice(x, axes = .., begin = .., end = ..)"),
    Missing("narrow narrowcopy trimzeros sliceindim dynamicslice dynamicsliceindim indexindim "
            "dynamicindexindim getitem",
            kSlice),
    Computed("reverse flip rev", "slice(x, axes = .., begin = [-1], end = [-1000000], stride = [-1])"),
    Missing("fliplr flipud rot90 reversesequence reversev2", "`slice` with a `stride` of -1 reads backwards"),
    Missing("roll", "`concat` joins the two slices"),
    Missing("sliceupdate dynamicupdateslice dynamicupdatesliceindim dynamicupdateindexindim"),
    // Repetition.
    Computed("repeat", "tile(x, repeats = ..)", "", "PyTorch"),
    Missing("repeat repeatinterleave",
            "`nearest_upsample(x, factor = ..)` repeats each item along spatial axes",
            "Keras, JAX, TensorFlow, NumPy"),
    Computed("repeatvector", "tile(unsqueeze(x, axes = [1]), repeats = [1,3,1])", "for three times"),
    // Lookup.
    RenamedIf("axis", "take indextake gatherv2", "gather", "gather(x, y, axis = ..)"),
    Computed("indexselect", "gather(x, index, axis = ..)"),
    Computed("embedding embeddinglookup", "gather(weight, x)", "for a tensor of indices `x`", "PyTorch"),
    Computed("embedding embeddinglookup", "gather(table, x)", "for a tensor of indices `x`",
             "Keras, JAX, TensorFlow"),
    Missing("embeddingbag", "`gather(table, indices)` looks rows up, `sum_reduce` adds them"),
    Missing("takealongaxis takealongdim gatherelements",
            "tract's `tract_core_gather_elements` is for its documents"),
    Missing("gathernd", "tract's `tract_core_gather_nd` is for its documents"),
    Missing("tensorscatterndadd tensorscatterndmax tensorscatterndmin tensorscatterndsub "
            "tensorscatterndupdate scatter scatterelements scatternd scatteradd scatterupdate scatterreduce "
            "scattermax scattermin "
            "scattermul "
            "scattersub scatterapply indexadd indexcopy indexput indexfill indexreduce maskedscatter "
            "diagonalscatter selectscatter slicescatter tensorscatter "
            "tensorscatterupdate put putalongaxis",
            kScatter),
    Missing("maskedselect compress extract booleanmask choose dynamicpartition dynamicstitch",
            "the shape of its result depends on values; `select(mask, x, 0.0)` keeps the shape"),
    Missing("ravelmultiindex unravelindex diagindices trilindices triuindices maskindices ix indices"),
    Missing("onehot multihot categoryencoding",
            "`gather` of the identity matrix in a `variable` is it; tract's `tract_core_one_hot` is for its "
            "documents"),
    // Triangles and diagonals.
    Missing("tril triu trilu tri bandpart matrixbandpart",
            "`mul` by a mask in a `variable` is it; tract's `tract_core_trilu` is for its documents"),
    Missing("diag diagonal diagflat diagembed matrixdiag trace linalgdiagonal filldiagonal"),
    // Types.
    Computed("astype totype convert castlike convertelementtype", "cast<scalar>(x)",
             "for a tensor of floats"),
    Computed("float float32 tofloat", "cast<scalar>(x)", "`scalar(x)` is for values"),
    Computed("int int32 int64 long tolong toint32 toint64", "cast<integer>(x)", "`integer(x)` is for values"),
    Computed("bool tobool", "cast<logical>(x)", "`logical(x)` is for values"),
    Missing("double half bfloat16 float16 float64 to typeas",
            "the types of tensors are `scalar`, `integer` and `logical`"),
    Missing("str", "`string(x)` converts a value"),
    // Shapes as values.
    Missing("len length", "`length_of(x)` is the length of an array, `shape_of(x)` the shape of a tensor"),
    Missing("shape size numel rank ndim dim", "`shape_of(x)` is the shape of a tensor"),
    Missing("range", "`range_of(x)` holds the indices of an array"),
    // Tensors.
    Computed("zeros zeroslike zero", "constant(shape = .., value = [0.0])"),
    Computed("ones oneslike", "constant(shape = .., value = [1.0])"),
    Computed("full fulllike fill constantofshape", "constant(shape = .., value = [fill_value])"),
    Missing("arange iota linspace logspace geomspace eye eyelike broadcastediota empty emptylike "
            "emptystrided array asarray fromnumpy converttotensor meshgrid cartesianprod "
            "combinations",
            "`constant(shape = [4], value = [0.0, 1.0, 2.0, 3.0])` lists values, a `variable` has them in a "
            "file"),
    RenamedIf("shape value", "const", "constant", "constant(shape = .., value = [fill_value])"),
    Missing("input inputlayer placeholder", "`external(shape = [1,3,224,224])` introduces an input"),
    Missing("output", "the results of the graph are named after `->`"),
    Missing("variablev2 readvariableop varhandleop parameter weight weights getvariable",
            "`variable(shape = .., label = '..')` introduces a parameter"),
    Renamed("assign", "update"),
    Computed("dropout alphadropout featurealphadropout featuredropout spatialdropout gaussiandropout "
             "gaussiannoise "
             "activityregularization masking droppath stochasticdepth",
             "copy(x)", "a network that is run drops nothing"),
};

}  // namespace

std::span<const ForeignOperation> ForeignShapes() {
  return kShapes;
}

}  // namespace nnefc::semantics::foreign
