import ArborModel
import Testing

/// The library's error that `body` throws; an issue where it throws none.
func failure(
  of body: () throws -> Void, sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws -> ArborError {
  try #require(throws: ArborError.self, sourceLocation: sourceLocation) { try body() }
}
