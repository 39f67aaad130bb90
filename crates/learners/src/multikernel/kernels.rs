//! The kernels of a learner with several.

use mercer_kernels::{AnyKernel, Gaussian};

use crate::Error;
use crate::entry::{BuildError, Context, Key, Kind, Rule, Value, Values};

/// Widths of the kernels that `auto` stands for, in widths of the kernel that is given.
const SCALES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// A Gaussian at several scales; another kernel alone.
fn scaled(kernel: &AnyKernel, _: &Context<'_>, _: &Values<'_>) -> Result<Value, BuildError> {
    let AnyKernel::Gaussian(gaussian) = kernel else { return Ok(Value::Kernels(vec![kernel.clone()])) };
    let scaled = |scale| Gaussian::new(scale * gaussian.sigma()).map(AnyKernel::Gaussian).map_err(Error::from);
    Ok(Value::Kernels(SCALES.map(scaled).into_iter().collect::<Result<_, _>>()?))
}

/// The kernels, by default those of [`scaled`].
pub(super) const KERNELS: Key = Key::written(
    Kind::Kernels,
    [
        "kernels",
        "kernels separated by commas (by ; where one has a comma of its own), or auto",
        "the P kernels, such as gaussian:0.3,gaussian:0.6 or polynomial:3,1;linear",
    ],
    || "auto".into(),
)
.with_symbol("P")
.found(Rule::looking(
    "the Gaussian of --kernel at ¼, ½, 1, 2 and 4 times its width; another kernel alone",
    "ours: the papers choose by hand",
    false,
    scaled,
));
