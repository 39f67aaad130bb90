//! Kernels, growable point sets, kernel rows and random Fourier features
