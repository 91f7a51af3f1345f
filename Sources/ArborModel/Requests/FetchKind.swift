/// What a fetch asks the store for.
public enum FetchKind: String, Sendable, Hashable, CaseIterable {
  /// Objects, or their IDs: of fetches, pages, windows, cursors, and of what a query updates or
  /// deletes.
  case objects
  /// Whether there is any object.
  case existence
  /// A number of objects.
  case count
  /// Values made of all objects, such as a sum.
  case aggregates
  /// Columns of each object.
  case rows
  /// A row for each group of objects.
  case groups
  /// Objects by the words of their texts.
  case search
}
