/// The form of an answer.
enum OutputForm: Equatable {
  case text
  /// One document.
  case json
  /// A document on each line.
  case ndjson
  case delimited(DelimitedRows)
}
