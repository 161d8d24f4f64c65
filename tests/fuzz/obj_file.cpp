#include "fuzz.h"
#include "springtime/files.h"

using namespace springtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static fuzz::MemoryFile file("a.obj");
    return fuzz::only_words([&] {
        const TriangleMesh mesh = read_obj(file.with(fuzz::text_of(data, size)));
        for (const auto& triangle : mesh.triangles) {
            for (const int p : triangle) {
                if (p < 0 || std::size_t(p) >= mesh.points.size()) std::abort();
            }
        }
    });
}
