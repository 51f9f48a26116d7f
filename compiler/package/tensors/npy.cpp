// The reader and the writer of NumPy's .npy files.

#include "compiler/package/tensors/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "compiler/package/rules.h"
#include "compiler/support/files/file.h"
#include "fmt/format.h"

namespace nnefc::package {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefix = 8;  // magic and version
constexpr size_t kMaxRank = 64;
// NumPy itself rejects longer headers of untrusted files.
constexpr uint64_t kLongestHeader = 1 << 20;

// The header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }
struct NpyDictionary {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

// A parser of only those Python literals that the format allows.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, FileId file, uint64_t offset, Emitter& emitter)
      : text_(text), file_(file), offset_(offset), emitter_(emitter) {}

  std::optional<NpyDictionary> Parse() {
    if (!Expect('{')) return std::nullopt;
    while (!Take('}')) {
      if (!Entry()) return std::nullopt;
      if (Take(',')) continue;
      if (!Expect('}')) return std::nullopt;
      break;
    }
    Space();
    if (at_ != text_.size()) {
      Fail("expected the end of the header");
      return std::nullopt;
    }
    std::string_view missing = !result_.descr           ? "descr"
                               : !result_.fortran_order ? "fortran_order"
                               : !result_.shape         ? "shape"
                                                        : "";
    if (!missing.empty()) {
      Fail(fmt::format("the header has no `{}`", missing));
      return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  bool Fail(std::string_view message) {
    emitter_.Emit(kNpyHeader, ByteRange(file_, offset_ + at_, 1), "{}", message);
    return false;
  }
  void Space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char c) {
    Space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Expect(char c) { return Take(c) || Fail(fmt::format("expected `{}` in the header", c)); }

  bool Entry() {
    std::optional<std::string> key = String();
    if (!key) return Fail("expected a key in the header");
    if (!Expect(':')) return false;
    if (*key == "descr" && !result_.descr) {
      result_.descr = String();
      return result_.descr.has_value() ||
             Fail("expected a type such as `'<f4'`; arrays of records cannot be read");
    }
    if (*key == "fortran_order" && !result_.fortran_order) return Boolean();
    if (*key == "shape" && !result_.shape) return Tuple();
    return Fail(fmt::format("the key `{}` is unknown or given twice", ShownText(*key)));
  }

  std::optional<std::string> String() {
    Space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }

  bool Boolean() {
    Space();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      result_.fortran_order = value;
      return true;
    }
    return Fail("expected `True` or `False`");
  }

  bool Tuple() {
    Shape shape;
    if (!Expect('(')) return false;
    while (!Take(')')) {
      Space();
      int64_t extent = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) return Fail("expected an extent");
      at_ = static_cast<size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
      if (shape.size() == kMaxRank) return Fail(fmt::format("an array has at most {} extents", kMaxRank));
      shape.push_back(extent);
      if (Take(',')) continue;
      if (!Expect(')')) return false;
      break;
    }
    result_.shape = std::move(shape);
    return true;
  }

  std::string_view text_;
  FileId file_;
  uint64_t offset_;
  Emitter& emitter_;
  size_t at_ = 0;
  NpyDictionary result_;
};

class NpyReader {
 public:
  NpyReader(const DataSource& source, Emitter& emitter)
      : source_(source), emitter_(emitter), size_(source.bytes->size()) {}

  std::optional<TensorValue> Read() {
    if (!ReadPrefix()) return std::nullopt;
    auto* text = reinterpret_cast<const char*>(source_.bytes->data()) + header_at_;
    std::string_view header(text, data_at_ - header_at_);
    auto dictionary = DictionaryParser(header, source_.file, header_at_, emitter_).Parse();
    if (!dictionary || !ReadType(*dictionary->descr) || !CheckSize(*dictionary->shape)) return std::nullopt;
    return Items(*dictionary->shape, *dictionary->fortran_order);
  }

 private:
  template <typename... Args>
  bool Fail(const Rule& rule, uint64_t at, uint64_t size, fmt::format_string<Args...> format,
            Args&&... args) {
    emitter_.Emit(rule, ByteRange(source_.file, at, size), format, std::forward<Args>(args)...);
    return false;
  }
  uint64_t Unsigned(size_t at, int bytes) const {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(source_.bytes->data()[at + i]) << (8 * i);
    return value;
  }

  bool ReadPrefix() {
    auto* bytes = reinterpret_cast<const char*>(source_.bytes->data());
    if (!std::string_view(bytes, std::min<uint64_t>(size_, kMagic.size())).starts_with(kMagic)) {
      return Fail(kNpyMagic, 0, kMagic.size(), "invalid NumPy array file");
    }
    uint64_t major = size_ > kMagic.size() ? Unsigned(kMagic.size(), 1) : 1;
    if (major < 1 || major > 3) {
      return Fail(kNpyVersion, kMagic.size(), 2,
                  "version {} of NumPy's array format is not known; expected 1 to 3", major);
    }
    int length_bytes = major == 1 ? 2 : 4;
    header_at_ = kPrefix + static_cast<size_t>(length_bytes);
    if (size_ < header_at_)
      return Fail(kNpySize, size_, 0, "the file ends after {} bytes, within the header", size_);
    uint64_t length = Unsigned(kPrefix, length_bytes);
    if (length > kLongestHeader) {
      return Fail(kNpyHeader, kPrefix, 4, "a header of {} bytes; expected at most {}", length,
                  kLongestHeader);
    }
    data_at_ = header_at_ + length;
    if (size_ < data_at_)
      return Fail(kNpySize, size_, 0, "the file ends after {} bytes, within the header", size_);
    return true;
  }

  bool ReadType(const std::string& descr) {
    // The descriptor "<f4" is byte order, kind and bytes.
    if (descr.size() == 3 && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
      if (const std::optional<ElementType> type = FromNumPy(descr[1], descr[2] - '0')) {
        type_ = *type;
        swapped_ = descr[0] == '>' && BitWidth(type_) > 8;
        return true;
      }
    }
    return Fail(kNpyType, header_at_, data_at_ - header_at_,
                "items of type `{}` cannot be read; expected booleans, integers or floats", ShownText(descr));
  }

  bool CheckSize(const Shape& shape) {
    std::optional<int64_t> volume = Volume(shape);
    std::optional<size_t> bytes = volume ? ByteSize(type_, *volume) : std::nullopt;
    uint64_t present = size_ - data_at_;
    if (!bytes) {
      return Fail(kNpyHeader, header_at_, data_at_ - header_at_, "an array of shape {} is too large",
                  ToString(shape));
    }
    if (present < *bytes) {
      return Fail(kNpySize, size_, 0, "the file ends after {} of {} bytes of data ({} of {})", present,
                  *bytes, ToString(shape), Name(type_));
    }
    if (present > *bytes) {
      return Fail(kNpySize, data_at_ + *bytes, present - *bytes, "{} bytes follow the data ({} of {})",
                  present - *bytes, ToString(shape), Name(type_));
    }
    return true;
  }

  std::optional<TensorValue> Items(const Shape& shape, bool fortran_order) {
    std::shared_ptr<const Buffer> data = Buffer::Slice(source_.bytes, data_at_, size_ - data_at_);
    bool transposed = fortran_order && shape.size() > 1;
    if (!transposed && !swapped_ && type_ != ElementType::kBoolean) {
      return TensorValue(type_, shape, std::move(data));
    }
    auto buffer = Buffer::Allocate(data->size());
    if (buffer == nullptr) {
      Fail(kDataTooLarge, data_at_, 0, "there is no memory for an array of shape {}", ToString(shape));
      return std::nullopt;
    }
    std::byte* out = buffer->mutable_data();
    const auto width = static_cast<size_t>(BitWidth(type_) / 8);
    const int64_t volume = *Volume(shape);
    // The strides of the file, in items: row-major order, or its reverse.
    Shape strides(shape.size(), 1);
    Shape index(shape.size(), 0);
    for (size_t i = 1; i < shape.size(); ++i) strides[i] = strides[i - 1] * shape[i - 1];
    int64_t from = 0;
    for (int64_t i = 0; i < volume; ++i) {
      const std::byte* item = data->data() + static_cast<size_t>(transposed ? from : i) * width;
      std::byte* at = out + static_cast<size_t>(i) * width;
      std::memcpy(at, item, width);
      if (swapped_) std::reverse(at, at + width);
      if (type_ == ElementType::kBoolean && *at != std::byte{0}) *at = std::byte{1};
      for (size_t axis = transposed ? shape.size() : 0; axis-- > 0;) {
        from += strides[axis];
        if (++index[axis] < shape[axis]) break;
        from -= strides[axis] * shape[axis];
        index[axis] = 0;
      }
    }
    return TensorValue(type_, shape, std::move(buffer));
  }

  const DataSource& source_;
  Emitter& emitter_;
  uint64_t size_;
  size_t header_at_ = 0;
  size_t data_at_ = 0;
  ElementType type_ = ElementType::kBoolean;
  bool swapped_ = false;
};

}  // namespace

std::optional<TensorValue> ReadNpy(const DataSource& source, Emitter& emitter) {
  return NpyReader(source, emitter).Read();
}

TensorValue NpyItems(const TensorValue& value) {
  if (NumPyLetter(value.type())) return value;
  if (IsFloat(value.type())) return value.ConvertedTo(ElementType::kF32);
  return value.ConvertedTo(IsSigned(value.type()) ? ElementType::kI8 : ElementType::kU8);
}

std::string NpyHeader(const TensorValue& value) {
  const ElementType written = NpyItems(value).type();
  const std::optional<char> letter = NumPyLetter(written);
  const int bytes = BitWidth(written) / 8;
  NNEFC_CHECK(letter.has_value());
  std::string shape =
      fmt::format("({}{})", fmt::join(value.shape(), ", "), value.shape().size() == 1 ? "," : "");
  std::string dictionary = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': {}, }}",
                                       bytes == 1 ? '|' : '<', *letter, bytes, shape);
  constexpr size_t kAlignment = 64;
  constexpr size_t kLengthBytes = 2;
  size_t used = kPrefix + kLengthBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

ErrorOr<Success> WriteNpy(const std::string& path, const TensorValue& value) {
  auto file = OutputFile::Create(path);
  if (!file) return file.error();
  if (auto written = file->Write(std::string_view(NpyHeader(value))); !written) return written;
  TensorValue items = NpyItems(value);
  if (auto written = file->Write(std::span(items.bytes(), items.byte_size())); !written) return written;
  return file->Commit();
}

}  // namespace nnefc::package
