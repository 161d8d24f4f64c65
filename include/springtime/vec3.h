#pragma once

#include <cmath>

// Formulas are shared by host and device code.
#if defined(__CUDACC__)
#define SPRINGTIME_HD __host__ __device__
#else
#define SPRINGTIME_HD
#endif

namespace springtime {

// A vector of three scalars. The scalar may be a double, a float, a SIMD pack or a dual number.
template <class T>
struct Vec3 {
    T x{}, y{}, z{};

    SPRINGTIME_HD T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
    SPRINGTIME_HD const T& operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }

    SPRINGTIME_HD Vec3& operator+=(const Vec3& o)
    {
        x = x + o.x;
        y = y + o.y;
        z = z + o.z;
        return *this;
    }
    SPRINGTIME_HD Vec3& operator-=(const Vec3& o)
    {
        x = x - o.x;
        y = y - o.y;
        z = z - o.z;
        return *this;
    }
};

template <class T>
SPRINGTIME_HD inline Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b)
{
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}

template <class T>
SPRINGTIME_HD inline Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

template <class T>
SPRINGTIME_HD inline Vec3<T> operator-(const Vec3<T>& a)
{
    return {-a.x, -a.y, -a.z};
}

template <class T>
SPRINGTIME_HD inline Vec3<T> operator*(const T& s, const Vec3<T>& a)
{
    return {s * a.x, s * a.y, s * a.z};
}

template <class T>
SPRINGTIME_HD inline T dot(const Vec3<T>& a, const Vec3<T>& b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
SPRINGTIME_HD inline Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b)
{
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
SPRINGTIME_HD inline T length(const Vec3<T>& a)
{
    using std::sqrt;
    return sqrt(dot(a, a));
}

using Vec3d = Vec3<double>;
using Vec3f = Vec3<float>;

// A point of the flat sheet [m].
struct SheetPoint {
    double u = 0, v = 0;
};

}  // namespace springtime
