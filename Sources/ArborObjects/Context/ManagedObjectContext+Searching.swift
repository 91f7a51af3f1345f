public import ArborFoundation
public import ArborModel

/// Full-text search, ranked by relevance.
extension ManagedObjectContext {
  /// Searches the text of a typed class's objects and returns the best matches first.
  ///
  /// ```swift
  /// for hit in try context.search(Article.self, "swift concurr*", in: "articleWords", limit: 10) {
  ///   print(hit.object.title, hit.snippet()?.marked("<b>", "</b>") ?? "")
  /// }
  /// ```
  ///
  /// The query uses the syntax of a search field. An object must contain every word, in any of the
  /// index's attributes. Case and diacritics are ignored:
  ///
  /// | query | matches |
  /// |---|---|
  /// | `red fox` | objects with both words |
  /// | `"red fox"` | objects with this phrase in one attribute |
  /// | `conc*`, `"red f*"` | objects with words that start with the prefix |
  /// | `fox -red` | objects without the excluded word or phrase |
  ///
  /// All other characters separate words. Every query is valid, and one without words has no
  /// matches. The score is BM25: rare words count more than common ones, and matches in short texts
  /// more than in long ones (except in a partial index, which ignores length). Uncommitted changes
  /// of the context are searched, too, but word frequencies are those of the last commit.
  ///
  /// The words are looked up in the index. Then every object that contains all of them is read and
  /// scored, so the time is proportional to their number. Memory is used for the best `limit`
  /// objects.
  ///
  /// - Parameters:
  ///   - type: The class whose objects, including those of subentities, are searched.
  ///   - text: The query.
  ///   - index: The name of the full-text index. `nil` if the entity has only one.
  ///   - predicate: An additional predicate that objects must match, or `nil`.
  ///   - weights: The weights of the index's attributes, by name, each at least 0. Other attributes
  ///     have the weight 1.
  ///   - limit: The maximum number of objects, or 0 for no limit.
  ///   - offset: The number of best matches to skip.
  /// - Throws: ``ArborError`` `unknownName` if the index or one of its attributes doesn't exist,
  ///   `invalidArgument` if the name is required but missing or a weight is negative, and the
  ///   errors of ``fetch(_:)``.
  public func search<T: ManagedObject>(
    _ type: T.Type, _ text: String, in index: String? = nil,
    matching predicate: FetchPredicate? = nil, weights: [PropertyPath: Double] = [:],
    limit: Int = 100,
    offset: Int = 0
  ) throws(ArborError) -> [SearchHit<T>] {
    try session.search(
      FetchRequest<T>(predicate: predicate), text, index, weights, limit: limit, offset: offset)
  }

  /// Searches the text of the objects that match a typed predicate. See
  /// ``search(_:_:in:matching:weights:limit:offset:)-(T.Type,_,_,FetchPredicate?,_,_,_)``.
  public func search<T: ManagedObject>(
    _ type: T.Type, _ text: String, in index: String? = nil, matching predicate: Predicate<T>,
    weights: [PropertyPath: Double] = [:], limit: Int = 100, offset: Int = 0
  ) throws(ArborError) -> [SearchHit<T>] {
    try search(
      type, text, in: index, matching: FetchPredicate(predicate), weights: weights,
      limit: limit, offset: offset)
  }

  /// Searches the text of an entity's objects and returns the best matches first. See
  /// ``search(_:_:in:matching:weights:limit:offset:)-(T.Type,_,_,FetchPredicate?,_,_,_)``.
  public func search(
    _ entityName: String, _ text: String, in index: String? = nil,
    matching predicate: FetchPredicate? = nil, weights: [PropertyPath: Double] = [:],
    limit: Int = 100,
    offset: Int = 0
  ) throws(ArborError) -> [SearchHit<ManagedObject>] {
    try session.search(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate), text, index, weights,
      limit: limit, offset: offset)
  }
}
