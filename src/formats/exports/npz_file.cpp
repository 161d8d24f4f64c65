#include "formats/exports/npz_file.h"

#include <fmt/format.h>

#include <zip.h>
#include <algorithm>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"
#include "springtime/error.h"

namespace springtime {

namespace fs = std::filesystem;

namespace {

struct DiscardZip {
    void operator()(zip_t* zip) const { zip_discard(zip); }
};
using Zip = std::unique_ptr<zip_t, DiscardZip>;

// Same numbers, same bytes: no time of day, but the first that a ZIP knows.
void add_entry(zip_t* zip, const fs::path& path, const std::string& name, zip_source_t* source)
{
    constexpr zip_uint16_t kFirstDay = (1 << 5) | 1;  // 1 January 1980
    const zip_int64_t index =
        source ? zip_file_add(zip, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        fail_write(path, zip_strerror(zip));
    }
    if (zip_set_file_compression(zip, zip_uint64_t(index), ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(zip, zip_uint64_t(index), 0, kFirstDay, 0) != 0) {
        fail_write(path, zip_strerror(zip));
    }
}

}  // namespace

std::string npy_header(std::string_view type, const std::vector<std::size_t>& shape)
{
    constexpr std::size_t kPreamble = 10, kAlign = 64;
    // A tuple of one needs its comma.
    std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   type, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
    const std::size_t used = kPreamble + dict.size() + 1;
    dict.append((kAlign - used % kAlign) % kAlign, ' ');
    dict.push_back('\n');
    std::string header("\x93NUMPY\x01\x00", 8);
    header.push_back(static_cast<char>(dict.size() & 255));
    header.push_back(static_cast<char>(dict.size() >> 8));
    return header + dict;
}

NpzFile::NpzFile(const fs::path& path, bool overwrite)
    : path_(path), overwrite_(overwrite), folder_(path)
{
}

fs::path NpzFile::waiting(const std::string& name) const
{
    return folder_.file(name + ".npy");
}

void NpzFile::add(const std::string& name, std::string_view type,
                  const std::vector<std::size_t>& shape, std::string_view bytes)
{
    arrays_.push_back({name, npy_header(type, shape).append(bytes), nullptr});
}

void NpzFile::begin(const std::string& name, std::string_view type,
                    const std::vector<std::size_t>& shape)
{
    arrays_.push_back({name, {}, std::make_unique<PartFile>(waiting(name))});
    arrays_.back().file->write(npy_header(type, shape));
}

void NpzFile::append(const std::string& name, std::string_view bytes)
{
    const auto found = std::find_if(arrays_.begin(), arrays_.end(),
                                    [&](const Array& array) { return array.name == name; });
    found->file->write(bytes);
}

void NpzFile::publish()
{
    for (const Array& array : arrays_) {
        if (array.file) array.file->publish();
    }
    int code = 0;
    const fs::path packed = folder_.file("packed.npz");
    Zip zip(zip_open(packed.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
    if (!zip) fail_write(path_, "no ZIP archive can be opened there");
    for (const Array& array : arrays_) {
        zip_source_t* const source =
            array.file ? zip_source_file(zip.get(), waiting(array.name).c_str(), 0, -1)
                       : zip_source_buffer(zip.get(), array.bytes.data(), array.bytes.size(), 0);
        add_entry(zip.get(), path_, array.name, source);
    }
    if (zip_close(zip.get()) != 0) fail_write(path_, zip_strerror(zip.get()));
    zip.release();
    rename_file(packed, path_, overwrite_);
}

// ---- A motion ----

namespace {

class NpzExporter : public MotionExporter {
  public:
    NpzExporter(const std::filesystem::path& path, const ExportScene& scene)
        : scene_(scene), file_(path, scene.overwrite)
    {
        const std::vector<std::size_t> shape{scene.frame_count, scene.point_count(), 3};
        file_.begin("position", "<f4", shape);
        if (scene.velocities) file_.begin("velocity", "<f4", shape);
    }

    void frame(const ExportFrame& frame) override
    {
        file_.append("position", bytes_of_values(frame.position));
        if (scene_.velocities) file_.append("velocity", bytes_of_values(frame.velocity));
        time_.push_back(frame.time);
    }

    void finish() override
    {
        file_.add("time", "<f8", {time_.size()}, bytes_of_values(std::span<const double>(time_)));
        add_sheet();
        add_handles();
        file_.publish();
    }

  private:
    void add_sheet()
    {
        const auto& triangles = scene_.surface.triangles;
        file_.add("rest", "<f8", {scene_.point_count(), 2},
                  bytes_of_values(std::span<const SheetPoint>(scene_.rest)));
        file_.add("triangles", "<i4", {triangles.size(), 3},
                  bytes_of_values(std::span<const std::array<int, 3>>(triangles)));
    }

    void add_handles()
    {
        const Handles& handles = scene_.handles;
        const std::size_t count = handles.particles.size();
        file_.add("handles", "<i4", {count},
                  bytes_of_values(std::span<const int>(handles.particles)));
        if (!handles.moving()) return;
        file_.add("handle_time", "<f8", {handles.key_time.size()},
                  bytes_of_values(std::span<const double>(handles.key_time)));
        file_.add("handle_position", "<f8", {handles.key_time.size(), count, 3},
                  bytes_of_values(std::span<const Vec3d>(handles.key_position)));
    }

    const ExportScene& scene_;
    NpzFile file_;
    std::vector<double> time_;
};

}  // namespace

std::unique_ptr<MotionExporter> make_npz_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene)
{
    static_assert(sizeof(SheetPoint) == 16 && sizeof(Vec3d) == 24);
    return std::make_unique<NpzExporter>(path, scene);
}

}  // namespace springtime
