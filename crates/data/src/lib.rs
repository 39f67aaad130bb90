//! Streams: readers, scalers, permutations and a data-set registry
