// Sparse systems under bounds, and selected entries of an inverse.
#include "learn/bounded_system.h"

#include <gtest/gtest.h>
