# Writes a C++ file that holds text files as raw strings:
#   cmake -DROOT=folder -DFILES="a.toml;b/c.toml" -DOUTPUT=file.cpp -P embed.cmake
set(entries "")
set(texts "")
set(number 0)
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  if(text MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${file} holds the mark that ends a raw string")
  endif()
  string(APPEND texts "constexpr std::string_view kText${number} = R\"embedded(${text})embedded\";\n")
  string(APPEND entries "    {\"${file}\", kText${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"inputs/embedded.hpp\"

#include <array>

namespace trainfront::inputs {
namespace {

${texts}
constexpr std::array<EmbeddedFile, ${number}> kFiles = {{
${entries}}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return kFiles; }

}  // namespace trainfront::inputs
")
