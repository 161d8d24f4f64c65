#pragma once

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

// Motion files that are well-formed HDF5 and odd as motion files: HDF5 itself makes them, and each
// type, shape, storage, link and value may be another than docs/formats.md asks for. Bytes choose
// which. Raw bytes would test HDF5 instead, which crashes on some.
namespace springtime::fuzz {

// Numbers out of bytes, and zeros when they have run out.
class Choices {
  public:
    explicit Choices(std::string_view bytes) : bytes_(bytes) {}

    unsigned below(unsigned count)
    {
        if (next_ >= bytes_.size()) return 0;
        return static_cast<unsigned char>(bytes_[next_++]) % count;
    }
    // Rarely, so that several odd things of one file do not hide each other.
    bool rarely() { return below(64) == 63; }

  private:
    std::string_view bytes_;
    std::size_t next_ = 0;
};

class Id {
  public:
    using Close = herr_t (*)(hid_t);
    Id(hid_t id, Close closer) : id_(id), close_(closer) {}
    ~Id()
    {
        if (id_ >= 0) close_(id_);
    }
    Id(const Id&) = delete;
    Id& operator=(const Id&) = delete;
    operator hid_t() const { return id_; }

  private:
    hid_t id_;
    Close close_;
};

inline hid_t compound_type()
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, 16);
    H5Tinsert(type, "a", 0, H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "b", 8, H5T_NATIVE_INT64);
    return type;
}

inline hid_t enumeration_type()
{
    const hid_t type = H5Tcreate(H5T_ENUM, sizeof(int));
    const int value = 1;
    H5Tenum_insert(type, "one", &value);
    return type;
}

// Fields anywhere in a number of this many bytes.
inline hid_t odd_float(Choices& choices)
{
    const hid_t type = H5Tcopy(H5T_IEEE_F64LE);
    H5Tset_size(type, 8 + choices.below(200));
    H5Tset_precision(type, 40 + choices.below(200));
    H5Tset_fields(type, choices.below(64), choices.below(64), 1 + choices.below(30),
                  choices.below(32), 1 + choices.below(60));
    H5Tset_ebias(type, choices.below(255));
    H5Tset_norm(type, choices.below(2) ? H5T_NORM_NONE : H5T_NORM_MSBSET);
    return type;
}

inline hid_t odd_integer(Choices& choices)
{
    const hid_t type = H5Tcopy(choices.below(2) ? H5T_STD_I32BE : H5T_STD_U64LE);
    H5Tset_size(type, 1 + choices.below(255));
    H5Tset_precision(type, 1 + choices.below(255));
    H5Tset_offset(type, choices.below(64));
    return type;
}

inline hid_t text_type(std::size_t size, Choices& choices)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    H5Tset_strpad(type, H5T_str_t(choices.below(3)));
    H5Tset_cset(type, choices.below(2) ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
    return type;
}

inline hid_t odd_type(Choices& choices)
{
    const std::array<hsize_t, 2> axes{2, 3};
    switch (choices.below(16)) {
        case 0:
            return H5Tcopy(H5T_IEEE_F32BE);
        case 1:
            return H5Tcopy(H5T_STD_U64BE);
        case 2:
            return H5Tcopy(H5T_STD_I8LE);
        case 3:
            return H5Tcopy(H5T_NATIVE_LDOUBLE);
        case 4:
            return odd_float(choices);
        case 5:
            return odd_integer(choices);
        case 6:
            return text_type(1 + choices.below(255), choices);
        case 7:
            return text_type(H5T_VARIABLE, choices);
        case 8:
            return compound_type();
        case 9:
            return enumeration_type();
        case 10:
            return H5Tarray_create2(H5T_NATIVE_DOUBLE, 2, axes.data());
        case 11:
            return H5Tvlen_create(H5T_NATIVE_INT);
        case 12:
            return H5Tcreate(H5T_OPAQUE, 1 + choices.below(64));
        case 13:
            return H5Tcopy(H5T_STD_B32LE);
        case 14:
            return H5Tcopy(H5T_STD_REF_OBJ);
        default:
            return H5Tcopy(H5T_UNIX_D64LE);
    }
}

// HDF5 itself crashes when it is to write an attribute whose size wraps around, so not all may be
// large.
inline hid_t odd_space(Choices& choices, bool may_be_large)
{
    constexpr unsigned kSmall = 6;
    constexpr hsize_t kHuge = std::numeric_limits<hsize_t>::max() / 4;
    if (choices.below(6) == 0) return H5Screate(choices.below(2) ? H5S_NULL : H5S_SCALAR);
    const std::array<hsize_t, 9> sides{0, 1, 2, 3, 4, 7, 1000, hsize_t(1) << 33, kHuge};
    std::vector<hsize_t> shape(1 + choices.below(may_be_large && choices.rarely() ? 32 : 4));
    for (hsize_t& side : shape) side = sides[choices.below(may_be_large ? sides.size() : kSmall)];
    return H5Screate_simple(int(shape.size()), shape.data(), nullptr);
}

// Bytes for all values, or none where they would be many. Texts of variable length are pointers.
inline std::vector<char> values_of(hid_t type, hid_t space, Choices& choices)
{
    constexpr double kMost = 1 << 16;
    const int rank = H5Sget_simple_extent_ndims(space);
    std::vector<hsize_t> shape(std::size_t(std::max(rank, 0)));
    if (rank > 0) H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    double bytes = double(H5Tget_size(type));
    for (const hsize_t side : shape) bytes *= double(side);
    if (bytes > kMost || H5Sget_simple_extent_type(space) == H5S_NULL) return {};
    std::vector<char> values(std::size_t(bytes), '\0');
    if (H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0) return values;
    for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 16); ++i) {
        values[i] = char(choices.below(256));
    }
    return values;
}

class MotionMaker {
  public:
    explicit MotionMaker(Choices& choices) : choices_(choices) {}

    // Whether something that every reader needs is kept outside of the file.
    bool needs_other_files() const { return needs_other_files_; }

    // Not the image of a file in memory: HDF5 gives those of later layouts a wrong checksum.
    void make(const std::string& path)
    {
        const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        const std::array layouts{H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_LATEST};
        H5Pset_libver_bounds(access, layouts[choices_.below(3)], H5F_LIBVER_LATEST);
        const Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        file_ = file;
        add_attributes();
        const std::array rest{0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0};
        add(file_, "rest", true, H5T_IEEE_F64LE, {4, 2}, rest.data());
        if (choices_.below(2)) {
            const Id text(text_type(6, choices_), H5Tclose);
            add(file_, "config", false, text, {1}, "dt = 1");
        }
        add_rollouts();
    }

  private:
    void add_attributes()
    {
        const auto text = [&](const char* name, const char* value) {
            const Id type(text_type(std::strlen(value), choices_), H5Tclose);
            add_attribute(name, type, {}, value);
        };
        const auto number = [&](const char* name, double value) {
            add_attribute(name, H5T_NATIVE_DOUBLE, {}, &value);
        };
        const auto integer = [&](const char* name, int value) {
            add_attribute(name, H5T_NATIVE_INT, {}, &value);
        };
        const std::array none{0.0, 0.0, 0.0}, gravity{0.0, -9.81, 0.0};
        text("format", "springtime-motion");
        integer("version", 1);
        text("units", "m, kg, s, N");
        number("sheet_length", 1);
        number("sheet_width", 1);
        number("mass", 0.1);
        number("dt", choices_.rarely() ? 1e-300 : 1e-3);
        integer("stride", choices_.rarely() ? std::numeric_limits<int>::max() : 40);
        add_attribute("gravity", H5T_NATIVE_DOUBLE, {3}, gravity.data());
        number("drag", 0);
        add_attribute("wind", H5T_NATIVE_DOUBLE, {3}, none.data());
        if (choices_.below(2)) integer("seed", 1);
        if (choices_.below(2)) integer("gaps", int(choices_.below(2)));
    }

    void add_attribute(const char* name, hid_t type, const std::vector<hsize_t>& shape,
                       const void* value)
    {
        if (choices_.rarely()) return;
        const Id plain(
            shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, shape.data(), nullptr),
            H5Sclose);
        const bool odd = choices_.rarely();
        const Id other_type(odd ? odd_type(choices_) : H5Tcopy(type), H5Tclose);
        const Id other_space(choices_.rarely() ? odd_space(choices_, false) : H5Scopy(plain),
                             H5Sclose);
        const Id attribute(
            H5Acreate2(file_, name, other_type, other_space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        if (attribute < 0) return;
        if (!odd && H5Sextent_equal(plain, other_space) > 0) {
            H5Awrite(attribute, type, value);
            return;
        }
        const std::vector<char> values = values_of(other_type, other_space, choices_);
        if (!values.empty()) H5Awrite(attribute, other_type, values.data());
    }

    void add_rollouts()
    {
        const Id rollouts(H5Gcreate2(file_, "all", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                          H5Gclose);
        const Id first(H5Gcreate2(rollouts, "one", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Gclose);
        const std::vector<float> zeros(3 * 4 * 3, 0);
        const std::array handles{0, 3};
        const std::array keys{0.0, 1.0};
        add(first, "position", true, H5T_IEEE_F32LE, {3, 4, 3}, zeros.data());
        if (choices_.below(2))
            add(first, "velocity", false, H5T_IEEE_F32LE, {3, 4, 3}, zeros.data());
        if (choices_.below(2)) {
            const std::array<double, 12> places{};
            add(first, "handles", false, H5T_STD_I32LE, {2}, handles.data());
            add(first, "handle_time", false, H5T_IEEE_F64LE, {2}, keys.data());
            add(first, "handle_position", false, H5T_IEEE_F64LE, {2, 2, 3}, places.data());
        }
        link(rollouts, first, "000000", true);
        link(file_, rollouts, "rollouts", true);
        H5Ldelete(rollouts, "one", H5P_DEFAULT);
        H5Ldelete(file_, "all", H5P_DEFAULT);
    }

    // Gives an object its name, or something else.
    void link(hid_t group, hid_t object, const char* name, bool needed)
    {
        const unsigned how = choices_.below(128);
        if (how == 122) return;
        if (how == 123) {
            H5Lcreate_soft("/rest", group, name, H5P_DEFAULT, H5P_DEFAULT);
        } else if (how == 124) {
            H5Lcreate_soft(name, group, name, H5P_DEFAULT, H5P_DEFAULT);  // in a circle
        } else if (how == 125) {
            H5Lcreate_external("/dev/zero", "/rest", group, name, H5P_DEFAULT, H5P_DEFAULT);
        } else if (how == 126) {
            H5Olink(file_, group, name, H5P_DEFAULT, H5P_DEFAULT);  // the root, in a circle
        } else if (how == 127) {
            const Id type(odd_type(choices_), H5Tclose);
            H5Tcommit2(group, name, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        } else {
            H5Olink(object, group, name, H5P_DEFAULT, H5P_DEFAULT);
        }
        needs_other_files_ |= needed && how >= 123 && how <= 125;
    }

    // How the values are stored; a few of these ways HDF5 refuses.
    void choose_storage(hid_t properties, hid_t space, bool needed)
    {
        const int rank = std::max(1, H5Sget_simple_extent_ndims(space));
        std::vector<hsize_t> chunk(std::size_t(rank), 1 + choices_.below(4));
        switch (choices_.below(64)) {
            case 57:
                may_write_ = false;
                needs_other_files_ |=
                    H5Pset_external(properties, "/dev/zero", 0, H5F_UNLIMITED) >= 0 && needed;
                return;
            case 58:
                may_write_ = false;
                needs_other_files_ |=
                    H5Pset_virtual(properties, space, "/dev/zero", "/rest", space) >= 0 && needed;
                return;
            case 59:
                chunk.back() = 1 << 28;
                [[fallthrough]];
            case 60:
            case 61:
            case 62:
            case 63:
                H5Pset_chunk(properties, rank, chunk.data());
                choose_filters(properties);
                return;
            default:
                return;
        }
    }

    void choose_filters(hid_t properties)
    {
        if (choices_.below(2)) H5Pset_shuffle(properties);
        const auto odd = [&](H5Z_filter_t filter) {
            const std::array<unsigned, 2> numbers{1, 2};
            if (!choices_.rarely()) return;
            H5Pset_filter(properties, filter, H5Z_FLAG_OPTIONAL, numbers.size(), numbers.data());
            may_write_ = false;  // HDF5 itself may crash in them
        };
        odd(H5Z_FILTER_NBIT);
        odd(H5Z_FILTER_SCALEOFFSET);
        odd(32000);  // that of h5py
        if (choices_.below(2)) H5Pset_deflate(properties, 1);
        if (choices_.below(2)) H5Pset_fletcher32(properties);
    }

    void add(hid_t group, const char* name, bool needed, hid_t type,
             const std::vector<hsize_t>& shape, const void* value)
    {
        const bool odd = choices_.rarely();
        const Id plain(H5Screate_simple(int(shape.size()), shape.data(), nullptr), H5Sclose);
        may_write_ = true;
        const bool compact = choices_.rarely();
        const Id space(choices_.rarely() ? odd_space(choices_, !compact) : H5Scopy(plain),
                       H5Sclose);
        const Id other(odd ? odd_type(choices_) : H5Tcopy(type), H5Tclose);
        const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        if (compact)
            H5Pset_layout(properties, H5D_COMPACT);
        else
            choose_storage(properties, space, needed);
        const Id dataset(H5Dcreate_anon(file_, other, space, properties, H5P_DEFAULT), H5Dclose);
        if (dataset < 0) return;
        if (may_write_ && !choices_.rarely()) {
            const bool same = !odd && H5Sextent_equal(plain, space) > 0;
            const std::vector<char> values =
                same ? std::vector<char>{} : values_of(other, space, choices_);
            const void* from = same ? value : values.data();
            if (same || !values.empty()) {
                H5Dwrite(dataset, other, H5S_ALL, H5S_ALL, H5P_DEFAULT, from);
            }
        }
        link(group, dataset, name, needed);
    }

    Choices& choices_;
    hid_t file_ = H5I_INVALID_HID;
    bool needs_other_files_ = false;
    bool may_write_ = true;  // values of the dataset that is being made
};

}  // namespace springtime::fuzz
