//! Online learning with kernels: the library face and the mercer command
