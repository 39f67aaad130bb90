//! The papers' experiments: protocols, comparators, figures and tables
