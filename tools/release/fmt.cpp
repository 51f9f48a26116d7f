// The archive of fmt, which Debian has only as a shared library: the functions that its headers declare.
#include "fmt/format-inl.h"

FMT_BEGIN_NAMESPACE
namespace detail {

template auto dragonbox::to_decimal(float number) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double number) noexcept -> dragonbox::decimal_fp<double>;
template auto thousands_sep_impl(locale_ref locale) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref locale) -> char;
template void buffer<char>::append(const char* begin, const char* end);
template void vformat_to(buffer<char>& text, string_view format,
                         basic_format_args<FMT_BUFFER_CONTEXT(char)> arguments, locale_ref locale);

}  // namespace detail
FMT_END_NAMESPACE
