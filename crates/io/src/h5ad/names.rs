//! The names of rows and columns.

use hdf5_pure::{DType, Dataset};

use super::{AnnData, word};
use crate::error::{ErrorKind, Result};

impl AnnData<'_> {
    /// The index of a table, where it has one as text.
    pub fn names(&self, table: &str, expected: usize) -> Result<Option<Vec<String>>> {
        let Ok(group) = self.file.group(table) else { return Ok(None) };
        let attributes = group.attrs().map_err(|error| self.fail(table, error))?;
        let index = attributes.get("_index").and_then(word).unwrap_or("_index".to_owned());
        let part = format!("{table}/{index}");
        if let Ok(array) = self.file.dataset(&part) {
            return self.texts(&part, &array, Some(expected));
        }
        // A nullable text column is a group of values and a mask.
        if let Ok(array) = self.file.dataset(&format!("{part}/values")) {
            return self.texts(&part, &array, Some(expected));
        }
        // A categorical one is a group of the texts that occur, and the number of each row's.
        let (texts, codes) = (format!("{part}/categories"), format!("{part}/codes"));
        let (Ok(array), Ok(numbers)) = (self.file.dataset(&texts), self.file.dataset(&codes))
        else {
            return Ok(None);
        };
        let Some(texts) = self.texts(&texts, &array, None)? else { return Ok(None) };
        self.check_length(&codes, &numbers, expected)?;
        let numbers = numbers.read_i64().map_err(|error| self.fail(&codes, error))?;
        let name = |number: i64| {
            let text = usize::try_from(number).ok().and_then(|number| texts.get(number));
            text.cloned().ok_or_else(|| {
                let high = (texts.len() as u64).saturating_sub(1);
                let (what, found) = ("category", number.to_string());
                self.wrong(&codes, ErrorKind::Range { what, low: 0, high, found })
            })
        };
        numbers.into_iter().map(name).collect::<Result<_>>().map(Some)
    }

    /// `Ok` when a list is as long as expected, and no larger than the file may become.
    fn check_length(&self, part: &str, array: &Dataset, expected: usize) -> Result<()> {
        self.check_size(part, array)?;
        let (found, expected) = (self.length(part, array)?, expected as u64);
        if found == expected {
            return Ok(());
        }
        Err(self.wrong(part, ErrorKind::Count { what: "names", expected, found }))
    }

    fn length(&self, part: &str, array: &Dataset) -> Result<u64> {
        let shape = array.shape().map_err(|error| self.fail(part, error))?;
        Ok(shape.iter().fold(1_u64, |product, &size| product.saturating_mul(size)))
    }

    /// The texts of a list, of which so many are expected; `None` when they are none.
    fn texts(
        &self,
        part: &str,
        array: &Dataset,
        expected: Option<usize>,
    ) -> Result<Option<Vec<String>>> {
        let count = match expected {
            Some(count) => count,
            None => usize::try_from(self.length(part, array)?).unwrap_or(usize::MAX),
        };
        self.check_length(part, array, count)?;
        let texts = match self.dtype(part, array)? {
            DType::VariableLengthString => {
                let most = self.source.limits().expanded(self.source.len());
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                let options = hdf5_pure::VlenStringReadOptions::new()
                    .with_max_elements(count)
                    .with_max_payload_bytes(most);
                array.read_vlen_strings(options)
            }
            DType::String => array.read_string(),
            // Numbers as an index: they carry no names.
            _ => return Ok(None),
        };
        texts.map(Some).map_err(|error| self.fail(part, error))
    }
}
