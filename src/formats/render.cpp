#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "draw/film.h"
#include "formats/exports/surface.h"
#include "formats/film_file.h"
#include "springtime/error.h"
#include "springtime/export.h"
#include "springtime/files.h"

namespace springtime {

namespace {

constexpr int kMostPixels = 8192;  // along a side

// A cloth that is nothing but the surface between landmarks.
Cloth surface_of(const MotionHeader& header)
{
    Cloth cloth{
        header.sheet,
        {},
        header.rest,
        std::vector<double>(header.rest.size(), header.sheet.mass / double(header.rest.size())),
        {}};
    const ExportSurface surface = make_surface(header.rest, {});
    cloth.triangles.corners = surface.triangles;
    cloth.triangles.shear_stiffness.assign(surface.triangles.size(), 1);
    cloth.triangles.area_stiffness.assign(surface.triangles.size(), 1);
    cloth.triangles.damping.assign(surface.triangles.size(), 0);
    for (std::size_t i = 1; i < surface.curve.size(); ++i) {
        const int a = surface.curve[i - 1], b = surface.curve[i];
        const SheetPoint &p = header.rest[std::size_t(a)], &q = header.rest[std::size_t(b)];
        cloth.springs.ends.push_back({a, b});
        cloth.springs.family.push_back(SpringFamily::structural);
        cloth.springs.rest_length.push_back(std::hypot(q.u - p.u, q.v - p.v));
        cloth.springs.stiffness.push_back(1);
        cloth.springs.damping.push_back(0);
    }
    return cloth;
}

// A rollout as it is drawn.
class Film {
  public:
    Film(const Motion& motion, const RenderOptions& options)
        : header_(motion.header), options_(options)
    {
        check(motion);
        rollout_ = motion.read(options.rollout, 0, motion.frame_counts[options.rollout]);
        choose_cloth();
        std::vector<State> frames;
        for (std::size_t f = 0; f < rollout_.frame_count; f += stride()) frames.push_back(state(f));
        painter_.emplace(cloth_, frames, options.obstacles, options.width, options.height,
                         colored_);
    }

    std::size_t frame_count() const { return rollout_.frame_count; }
    double interval() const { return header_.frame_interval(); }

    Picture picture(std::size_t frame) const { return painter_->picture(state(frame)); }

  private:
    void check(const Motion& motion) const;
    void choose_cloth();
    // The camera needs not see every frame to know where the motion goes.
    std::size_t stride() const { return std::max<std::size_t>(1, rollout_.frame_count / 200); }

    State state(std::size_t frame) const
    {
        State state = rollout_.state(frame, header_);
        if (resampler_) state = resampler_->apply(state);
        state.time = double(frame) * interval();
        return state;
    }

    const MotionHeader& header_;
    const RenderOptions& options_;
    Rollout rollout_;
    Cloth cloth_;
    bool colored_ = true;
    std::optional<Resampler> resampler_;
    std::optional<FilmPainter> painter_;
};

void Film::check(const Motion& motion) const
{
    if (options_.rollout >= motion.rollout_count()) {
        throw Error(Field{"rollout"}, "{}: the motion has {} of them, from 0", options_.rollout,
                    motion.rollout_count());
    }
    const std::size_t count = motion.frame_counts[options_.rollout];
    if (options_.frame && *options_.frame >= count) {
        throw Error(Field{"frame"}, "{}: rollout {} has {} of them, from 0", *options_.frame,
                    options_.rollout, count);
    }
    const auto fits = [](int pixels) { return pixels >= 16 && pixels <= kMostPixels; };
    if (!fits(options_.width) || !fits(options_.height)) {
        throw Error(Field{"size"}, "{} x {}: both have to be from 16 to {} pixels", options_.width,
                    options_.height, kMostPixels);
    }
}

void Film::choose_cloth()
{
    if (options_.cloth) {
        cloth_ = *options_.cloth;
        if (!same_points(cloth_, header_.sheet, header_.rest)) resampler_.emplace(cloth_, header_);
        return;
    }
    if (!header_.source_cloth.empty()) {
        cloth_ = cloth_from_json(header_.source_cloth, "the source cloth of the motion");
        if (same_points(cloth_, header_.sheet, header_.rest)) return;
    }
    cloth_ = surface_of(header_);
    colored_ = false;
}

void check_film(const RenderOptions& options)
{
    if (options.width % 2 != 0 || options.height % 2 != 0) {
        throw Error(Field{"size"}, "{} x {}: a film needs even numbers of pixels", options.width,
                    options.height);
    }
    if (!(options.fps >= 1 && options.fps <= 240)) {
        throw Error(Field{"fps"}, "{}: has to be from 1 to 240", options.fps);
    }
    if (!(options.speed >= 0.001 && options.speed <= 1000)) {
        throw Error(Field{"speed"}, "{}: has to be from 0.001 to 1000", options.speed);
    }
}

}  // namespace

Picture render_frame(const Motion& motion, const RenderOptions& options)
{
    const Film film(motion, options);
    return film.picture(options.frame.value_or(film.frame_count() - 1));
}

void render_film(const Motion& motion, const RenderOptions& options,
                 const std::filesystem::path& path, bool overwrite, const Progress& progress)
{
    check_film(options);
    const Film film(motion, options);
    FilmFile file(path, options.width, options.height, options.fps, overwrite);
    const double pictures_per_frame = film.interval() * options.fps / options.speed;
    const int count = 1 + int(std::floor(double(film.frame_count() - 1) * pictures_per_frame));
    const int threads = thread_count(options.threads);
    for (int done = 0; done < count; done += threads) {
        std::vector<Picture> pictures(std::size_t(std::min(threads, count - done)));
        parallel_for(int(pictures.size()), threads, [&](int i) {
            const double frame = std::round(double(done + i) / pictures_per_frame);
            pictures[std::size_t(i)] =
                film.picture(std::min(std::size_t(frame), film.frame_count() - 1));
        });
        for (const Picture& picture : pictures) file.write(picture);
        progress.report(
            {"render", double(std::min(done + threads, count)), double(count), "pictures", {}});
    }
    file.publish();
}

}  // namespace springtime
