#include "fuzz.h"
#include "springtime/files.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    return fuzz::only_words([&] { read_material(fuzz::text_of(data, size)); });
}
