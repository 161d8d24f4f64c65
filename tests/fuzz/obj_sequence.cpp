#include "formats/tracks/open_tracks.h"
#include "fuzz.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    // A zero byte parts two frames.
    static fuzz::MemoryFile first("a.obj"), second("b.obj");
    const std::string_view text = fuzz::text_of(data, size);
    const std::size_t end = std::min(text.find('\0'), size);
    return fuzz::only_words([&] {
        fuzz::read_all(*open_mesh_tracks(
            {first.with(text.substr(0, end)), second.with(text.substr(std::min(end + 1, size)))}));
    });
}
