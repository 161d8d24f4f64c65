#include "formats/obj_parser.h"
#include "formats/text_file.h"
#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

TriangleMesh read_obj(const std::filesystem::path& path)
{
    TriangleMesh mesh = parse_obj(read_text(path), path.string(), {});
    if (mesh.triangles.empty()) {
        throw Error("{}: no faces; an OBJ file with v and f lines is needed", path.string());
    }
    return mesh;
}

}  // namespace springtime
