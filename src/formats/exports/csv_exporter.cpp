#include <fmt/compile.h>

#include <cmath>

#include "core/atomic_file.h"
#include "formats/exports/motion_exporter.h"

namespace springtime {

namespace {

// Twelve digits distinguish any two frames and hide the rounding of products.
std::string start_of(const ExportFrame& frame)
{
    return fmt::format("{},{:.12g}", frame.number, frame.time);
}

class CsvExporter : public MotionExporter {
  public:
    CsvExporter(const std::filesystem::path& path, const ExportScene& scene, bool long_rows)
        : file_(path, scene.overwrite), long_rows_(long_rows)
    {
        if (long_rows) {
            file_.write("frame,time,point,x,y,z\n");
            return;
        }
        file_.write("frame,time");
        for (std::size_t p = 1; p <= scene.point_count(); ++p) {
            file_.write(fmt::format(FMT_COMPILE(",x{0},y{0},z{0}"), p));
        }
        file_.write("\n");
    }

    void frame(const ExportFrame& frame) override
    {
        text_.clear();
        if (long_rows_) {
            add_rows(frame);
        } else {
            add_row(frame);
        }
        file_.write({text_.data(), text_.size()});
    }

    void finish() override { file_.publish(); }

  private:
    void add_row(const ExportFrame& frame)
    {
        auto out = std::back_inserter(text_);
        text_.append(start_of(frame));
        for (const float x : frame.position) {
            text_.push_back(',');
            if (!std::isnan(x)) fmt::format_to(out, FMT_COMPILE("{}"), x);
        }
        text_.push_back('\n');
    }

    void add_rows(const ExportFrame& frame)
    {
        auto out = std::back_inserter(text_);
        const std::string start = start_of(frame);
        for (std::size_t p = 0; p < frame.position.size() / 3; ++p) {
            const float* x = &frame.position[3 * p];
            if (std::isnan(x[0])) continue;
            fmt::format_to(out, FMT_COMPILE("{},{},{},{},{}\n"), start, p + 1, x[0], x[1], x[2]);
        }
    }

    PartFile file_;
    bool long_rows_;
    fmt::memory_buffer text_;
};

}  // namespace

std::unique_ptr<MotionExporter> make_csv_exporter(const std::filesystem::path& path,
                                                  const ExportScene& scene, bool long_rows)
{
    return std::make_unique<CsvExporter>(path, scene, long_rows);
}

}  // namespace springtime
