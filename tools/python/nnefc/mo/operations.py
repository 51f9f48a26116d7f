"""The Model Optimizer's operation classes: their modules, names and operations.

A row of `OPERATIONS` is a module below `nnefc.mo.ops` with its classes. `Name=op` gives the Model Optimizer's `op` if it
differs from the name of the class, and `Name:Type` the OpenVINO operation if it differs from the `op`.
"""

OPERATIONS = """
BatchNormInference BatchNormInference=batchNormInference:BatchNormInference
Cast Cast:Convert
ConvertLike ConvertLike
DetectionOutput DetectionOutput
ExtractImagePatches ExtractImagePatches
GRUCell GRUCell
GatherTree GatherTree
MatMul MatMul Gemm=GEMM:MatMul
RNNCell RNNCell
ReduceOps ReduceSum ReduceProd ReduceMin ReduceMax ReduceMean ReduceL1 ReduceL2
ReduceOps ReduceAnd:ReduceLogicalAnd ReduceLogicalAnd ReduceLogicalOr
activation_ops Sigmoid Sin Sinh Asin Asinh Cos Cosh Acos Acosh Tan Tanh Atan Atanh Exp ReLU Erf Floor Ceiling Abs Sign
activation_ops Elu LogicalNot Log SoftPlus Mish HSwish HSigmoid Swish SoftSign
assign Assign
broadcast Broadcast
bucketize Bucketize
clamp AttributedClamp:Clamp
concat Concat
ctc_greedy_decoder CTCGreedyDecoderOp=CTCGreedyDecoder
ctc_greedy_decoder_seq_len CTCGreedyDecoderSeqLenOp=CTCGreedyDecoderSeqLen
ctc_loss CTCLoss
cumsum CumSum
deformable_convolution DeformableConvolution
depth_to_space DepthToSpaceOp=DepthToSpace
detection_output_onnx ExperimentalDetectronDetectionOutput
dft DFT IDFT RDFT IRDFT
einsum Einsum
elementwise Add BiasAdd=Add Sub:Subtract Mul:Multiply Div:Divide SquaredDifference Pow:Power Greater GreaterEqual Less
elementwise LessEqual Equal NotEqual Maximum Minimum Round LogicalOr LogicalXor LogicalAnd FloorMod Mod
elementwise Negative Sqrt BitwiseAnd BitwiseOr BitwiseXor BitwiseNot
embedding_bag EmbeddingBagOffsetsSum EmbeddingBagPackedSum EmbeddingSegmentsSum
eye Eye
fakequantize FakeQuantize
gather Gather
gatherelements GatherElements
gathernd GatherND
gelu GeLUOP=Gelu
grn GRNOp=GRN
group_norm GroupNormalization
hard_sigmoid HardSigmoid
interpolate Interpolate
log_softmax LogSoftmax
lrn LRN
lstm_cell LSTMCell
multinomial Multinomial
mvn MVN
non_max_suppression NonMaxSuppression
non_zero NonZero
normalize_l2 NormalizeL2Op=NormalizeL2
one_hot OneHot
pad Pad
parameter Parameter
prelu PReLU
priorbox PriorBoxOp=PriorBox
priorbox_clustered PriorBoxClusteredOp=PriorBoxClustered
priorgridgenerator_onnx ExperimentalDetectronPriorGridGenerator
proposal ProposalOp=Proposal
proposal_onnx ExperimentalDetectronGenerateProposalsSingleImage
psroipooling PSROIPoolingOp=PSROIPooling DeformablePSROIPoolingOp=DeformablePSROIPooling
random_uniform RandomUniform
range Range
read_value ReadValue
regionyolo RegionYoloOp=RegionYolo
reorgyolo ReorgYoloOp=ReorgYolo
reshape Reshape
reverse_sequence ReverseSequence
roialign ROIAlign
roifeatureextractor_onnx ExperimentalDetectronROIFeatureExtractor
roipooling ROIPooling
roll Roll
scatter ScatterElementsUpdate ScatterUpdate
scatternd ScatterNDUpdate
select Select
shape Shape=ShapeOf
shufflechannel ShuffleChannels
slice OvSlice=Slice Slice
softmax Softmax=SoftMax:Softmax
space_to_batch SpaceToBatch BatchToSpace
space_to_depth SpaceToDepth
split VariadicSplit Split
squeeze Squeeze
tile Tile
topk TopK
topkrois_onnx ExperimentalDetectronTopKROIs
transpose Transpose
unsqueeze Unsqueeze
"""

# Versions whose inputs or attributes differ from the newest ones, by class.
VERSIONS = {"Interpolate": "opset1", "Slice": "opset8"}
# The Model Optimizer's values of attributes that OpenVINO requires.
DEFAULTS = {
    "Concat": {"axis": 1},
    "DetectionOutput": {"nms_threshold": 0.0, "keep_top_k": [-1]},
    "Elu": {"alpha": 1.0},
    "MVN": {"eps": 1e-9, "normalize_variance": True, "eps_mode": "inside_sqrt"},
    "NormalizeL2Op": {"eps": 1e-12, "eps_mode": "add"},
    "OneHot": {"axis": -1},
    "Pad": {"pad_mode": "constant"},
    "Parameter": {"element_type": "f32"},
    "Reshape": {"special_zero": True},
    "SpaceToDepth": {"mode": "blocks_first"},
    "TopK": {"mode": "max", "sort": "value"},
}
# Attributes with other names in OpenVINO, by class.
RENAMED = {
    "BatchNormInference": {"eps": "epsilon"},
    "GroupNormalization": {"eps": "epsilon"},
    "Pad": {"mode": "pad_mode"},
    "Parameter": {"data_type": "element_type"},
}
