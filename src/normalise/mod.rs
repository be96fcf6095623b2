//! Reply text becomes typed findings, or an exact reason why not.
