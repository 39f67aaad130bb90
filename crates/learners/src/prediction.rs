//! Online prediction of linear dynamical systems from their past outputs; needs no kernel.
