#include "fuzz.h"
#include "springtime/files.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::MemoryFile file("paths.csv");
    static const Cloth cloth =
        make_grid_cloth({1, 1, 1}, {3, 3, true, true, true, true}, MaterialField::uniform(1),
                        MaterialField::uniform(1));
    static const State start = flat_state(cloth);
    return fuzz::only_words(
        [&] { read_handle_paths(file.with(fuzz::text_of(data, size)), cloth, start); });
}
