//! The zone of times that are written without an offset from UTC.

use std::fmt::Display;

use clap::Args;
use mercer_encoding::{Encoding, Zone};

use crate::report::failure::Failure;

/// The zone of times without an offset.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ZoneArguments {
    /// The time zone of the times, such as Europe/Vienna, by the names of the IANA data base
    ///
    /// Times without an offset from UTC are then those that clocks of the zone show, and the hour
    /// that they leave out in spring is none. In a series the hour that comes twice in autumn is
    /// read in its order. Hours and days are local ones, also those of times with an offset. A
    /// model of a table or of a series keeps the zone.
    #[arg(long, value_name = "NAME", value_parser = zone)]
    pub(crate) zone: Option<Zone>,
}

impl ZoneArguments {
    /// Refuses a zone for data in which nothing has it.
    pub(crate) fn check_used(told: Option<&Zone>, shown: &dyn Display, is_used: bool) -> Result<(), Failure> {
        match told.filter(|_| !is_used) {
            Some(zone) => Err(Failure::usage(format!(
                "{shown}: no column holds times of day or days for --zone {}; leave it out, or say which one does with --as NAME=time",
                zone.name()
            ))),
            None => Ok(()),
        }
    }

    /// Refuses another zone than that of a model.
    pub(crate) fn check_known(&self, model: &dyn Display, encoding: Option<&Encoding>) -> Result<(), Failure> {
        let Some(told) = &self.zone else { return Ok(()) };
        let known = match encoding.and_then(Encoding::zone) {
            Some(zone) if zone == told => return Ok(()),
            Some(zone) => format!("reads times by clocks of {}, as it was trained", zone.name()),
            None => "was trained without a zone, and reads times as they are written".to_owned(),
        };
        Err(Failure::usage(format!("{model}: {known}; leave --zone out, or train the model with it")))
    }
}

fn zone(text: &str) -> Result<Zone, &'static str> {
    Zone::named(text).ok_or("there is no such time zone; give a name such as Europe/Vienna, America/New_York or UTC")
}
