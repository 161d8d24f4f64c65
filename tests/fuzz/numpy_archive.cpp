#include "formats/tracks/open_tracks.h"
#include "fuzz.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::MemoryFile file("a.npz");
    return fuzz::only_words(
        [&] { fuzz::read_all(*open_numpy_tracks(file.with(fuzz::text_of(data, size)), {})); });
}
