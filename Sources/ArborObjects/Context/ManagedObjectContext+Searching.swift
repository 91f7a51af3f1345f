public import ArborModel
public import Foundation

/// Full-text search, the best matches first.
extension ManagedObjectContext {
  /// Searches the texts of a typed class's objects for words, the best matches first.
  ///
  /// ```swift
  /// for hit in try context.search(Article.self, "swift concurr*", in: "articleWords", limit: 10) {
  ///   print(hit.object.title, hit.snippet()?.marked("<b>", "</b>") ?? "")
  /// }
  /// ```
  ///
  /// The text is what a person types. An object has to have every word of it, in any of the index's
  /// attributes, without regard to case and diacritics:
  ///
  /// | text | finds |
  /// |---|---|
  /// | `red fox` | texts with both words |
  /// | `"red fox"` | the one directly behind the other, in one attribute |
  /// | `conc*`, `"red f*"` | words that begin so |
  /// | `fox -red` | texts without a word or phrase |
  ///
  /// Everything else separates words; no text is an error, and one without words finds nothing. The
  /// score is BM25: rare words count more than common ones, and short texts more than long ones
  /// (in a partial index, length does not count). Uncommitted changes of the context are searched
  /// too; how rare a word is, is that of the last commit.
  ///
  /// The words are looked up in the index. Then every object that has them is read and scored, in
  /// memory for the best `limit` of them: time is in proportion to the objects that have all words.
  ///
  /// - Parameters:
  ///   - type: The class whose objects are searched, those of subentities included.
  ///   - text: What is searched for.
  ///   - index: The name of the index of words; nil where the entity has one only.
  ///   - predicate: What objects have to fulfil beside; nil for nothing.
  ///   - weights: How much a word in an attribute counts, by the names of the index's attributes:
  ///     at least 0, and 1 where nothing is said.
  ///   - limit: The greatest number of objects; 0 for all.
  ///   - offset: How many of the best objects are left out.
  /// - Throws: ``ArborError`` `unknownName` where there is no such index or attribute of it,
  ///   `invalidArgument` where the name is missing or a weight is below 0, and as ``fetch(_:)``.
  public func search<T: ManagedObject>(
    _ type: T.Type, _ text: String, in index: String? = nil,
    matching predicate: FetchPredicate? = nil, weights: [PropertyPath: Double] = [:],
    limit: Int = 100,
    offset: Int = 0
  ) throws(ArborError) -> [SearchHit<T>] {
    try session.search(
      FetchRequest<T>(predicate: predicate), text, index, weights, limit: limit, offset: offset)
  }

  /// Searches the texts of the objects that fulfil a typed predicate; see
  /// ``search(_:_:in:matching:weights:limit:offset:)-(T.Type,_,_,FetchPredicate?,_,_,_)``.
  public func search<T: ManagedObject>(
    _ type: T.Type, _ text: String, in index: String? = nil, matching predicate: Predicate<T>,
    weights: [PropertyPath: Double] = [:], limit: Int = 100, offset: Int = 0
  ) throws(ArborError) -> [SearchHit<T>] {
    try search(
      type, text, in: index, matching: FetchPredicate(predicate), weights: weights,
      limit: limit, offset: offset)
  }

  /// Searches the texts of an entity's objects for words, the best matches first; see
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
