public import ArborModel
internal import ArborStore
internal import ArborWork

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
    matching predicate: FetchPredicate? = nil, weights: [String: Double] = [:], limit: Int = 100,
    offset: Int = 0
  ) throws(ArborError) -> [SearchHit<T>] {
    try search(
      FetchRequest<T>(predicate: predicate), text, index, weights, limit: limit, offset: offset)
  }

  /// Searches the texts of an entity's objects for words, the best matches first; see
  /// ``search(_:_:in:matching:weights:limit:offset:)-(T.Type,_,_,_,_,_,_)``.
  public func search(
    _ entityName: String, _ text: String, in index: String? = nil,
    matching predicate: FetchPredicate? = nil, weights: [String: Double] = [:], limit: Int = 100,
    offset: Int = 0
  ) throws(ArborError) -> [SearchHit<ManagedObject>] {
    try search(
      FetchRequest<ManagedObject>(entity: entityName, predicate: predicate), text, index, weights,
      limit: limit, offset: offset)
  }

  private func search<T: ManagedObject>(
    _ request: FetchRequest<T>, _ text: String, _ index: String?, _ weights: [String: Double],
    limit: Int, offset: Int
  ) throws(ArborError) -> [SearchHit<T>] {
    try beginOperation()
    let entity = try entity(for: request)
    let description = try wordIndex(named: index, of: entity)
    let columns = try columns(of: description, of: entity, weights)
    let search = TextSearch(
      SearchText(text), in: columns, of: try query(request.description, entity), limit: limit,
      offset: offset)
    let overlay = overlay(for: request.description)
    let rows = try onSnapshot { snapshot throws(StoreError) in
      try snapshot.search(search, overlay: overlay)
    }
    var scores: [ObjectNumber: Double] = [:]
    for row in rows { scores[row.number] = row.score }
    let attributes = description.elements.map(\.property)
    // The class of the entity, which all its objects have, was checked.
    return try existingObjects(rows.map(\.number)).map { object in
      SearchHit(
        unsafeDowncast(object, to: T.self), score: scores[object.number] ?? 0, search.text,
        in: attributes)
    }
  }

  /// The index of words that is meant.
  private func wordIndex(
    named name: String?, of entity: EntitySchema
  ) throws(ArborError) -> FetchIndexDescription {
    let indexes = entity.lineage.flatMap { work.schema.model.entities[$0].fetchIndexes }
      .filter(\.isOfWords)
    let names = indexes.map(\.name).sorted()
    guard let name else {
      if indexes.count == 1 { return indexes[0] }
      throw ArborError(
        indexes.isEmpty ? .unknownName : .invalidArgument,
        indexes.isEmpty
          ? "\(entity.name) has no index of words to search; declare one, such as "
            + "Index(text: \"title\", \"body\")."
          : "\(entity.name) has several indexes of words; name the one to search: "
            + names.joined(separator: ", ") + "."
      ).with(entity: entity.name)
    }
    guard let index = indexes.first(where: { $0.name == name }) else {
      let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
      throw ArborError(
        .unknownName,
        "There is no index of words \"\(name)\" at \(entity.name); \(known)."
          + NearestName.hint(name, in: names)
      ).with(entity: entity.name, keyPath: name)
    }
    return index
  }

  private func columns(
    of index: FetchIndexDescription, of entity: EntitySchema, _ weights: [String: Double]
  ) throws(ArborError) -> [TextSearch.Column] {
    let names = index.elements.map(\.property)
    for (name, weight) in weights.sorted(by: { $0.key < $1.key }) {
      guard names.contains(name) else {
        throw ArborError(
          .unknownName,
          "The index \(index.name) has no attribute \"\(name)\" to weigh; it has "
            + names.joined(separator: ", ") + "." + NearestName.hint(name, in: names)
        ).with(entity: entity.name, keyPath: name)
      }
      guard weight >= 0, weight.isFinite else {
        throw ArborError(
          .invalidArgument, "The weight of \(name) is \(weight); give a number from 0 up."
        ).with(entity: entity.name, keyPath: name)
      }
    }
    var columns: [TextSearch.Column] = []
    for name in names {
      guard let slot = entity.attributes.first(where: { $0.name == name })?.slot,
        let indexNumber = entity.indexes.firstIndex(where: { kept in
          kept.isText && kept.columns.map(\.source) == [.attribute(slot)]
            && kept.condition?.text == index.partialIndexPredicate
        })
      else {
        throw ArborError(
          .invalidArgument,
          "The index \(index.name) of \(entity.name) is not kept, since \(name) cannot be "
            + "indexed; search another one."
        ).with(entity: entity.name, keyPath: name)
      }
      columns.append(.init(slot: slot, index: indexNumber, weight: weights[name] ?? 1))
    }
    return columns
  }
}
