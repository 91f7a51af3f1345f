import ArborModel
import Testing

/// Returns the `ArborError` that `body` throws, and records an issue if it throws none.
func failure(
  of body: () throws -> Void, sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws -> ArborError {
  try #require(throws: ArborError.self, sourceLocation: sourceLocation) { try body() }
}
