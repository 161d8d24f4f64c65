#include "learn/bounded_system.h"
