extension ModelRules {
  /// Checks the columns of uniqueness constraints and indexes.
  mutating func checkIndexes() {
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, constraint) in entity.uniquenessConstraints.enumerated() {
        checkConstraint(constraint, at: .constraint(index, propertyIndex), of: index)
      }
      var names: Set<String> = []
      for (propertyIndex, fetchIndex) in entity.fetchIndexes.enumerated() {
        let subject = ModelSubject.index(index, propertyIndex)
        let name = "Index \(fetchIndex.name) of \(entity.name)"
        if fetchIndex.name.isEmpty || fetchIndex.name.contains("/")
          || fetchIndex.name.utf8.count > Self.maximumNameLength
        {
          report(
            subject,
            "\(name) has an invalid name. Use a name of 1 to \(Self.maximumNameLength) bytes that "
              + "doesn't contain a slash.")
        } else if !names.insert(fetchIndex.name).inserted {
          report(
            subject,
            "\(name) has the same name as another index of the entity. Rename one of them.")
        }
        checkElements(of: fetchIndex, called: name, at: subject, of: index)
      }
    }
  }

  private mutating func checkConstraint(
    _ constraint: [String], at subject: ModelSubject, of index: Int
  ) {
    let entity = model.entities[index]
    let name = "The uniqueness constraint (\(constraint.joined(separator: ", "))) of \(entity.name)"
    if constraint.isEmpty {
      report(subject, "A uniqueness constraint of \(entity.name) is empty. Add a property.")
    }
    if Set(constraint).count < constraint.count {
      report(subject, "\(name) lists a property twice. List it once.")
    }
    if constraint.joined(separator: "+").utf8.count > Self.maximumNameLength {
      report(
        subject,
        "\(name) has property names that exceed \(Self.maximumNameLength) bytes in total. Use "
          + "fewer properties or shorter names.")
    }
    for column in constraint { checkUnique(column, called: name, at: subject, of: index) }
  }

  private mutating func checkUnique(
    _ column: String, called name: String, at subject: ModelSubject, of index: Int
  ) {
    switch property(column, of: index) {
    case .attribute(let attribute)?:
      if !attribute.isIndexable {
        report(
          subject,
          "\(name) lists \(column), which is \(Self.unindexable(attribute)) and cannot be unique. "
            + "Remove it from the constraint.")
      }
    case .relationship(let relationship)?:
      if relationship.isTransient {
        report(
          subject,
          "\(name) lists \(column), which is transient and cannot be unique. Remove it from the "
            + "constraint.")
      } else if relationship.isToMany {
        report(
          subject,
          "\(name) lists \(column), a to-many relationship. Only attributes and to-one "
            + "relationships can be unique.")
      }
    case .fetched?, nil: reportUnknown(column, called: name, at: subject, of: index)
    }
  }

  private mutating func reportUnknown(
    _ column: String, called name: String, at subject: ModelSubject, of index: Int
  ) {
    report(
      subject,
      "\(name) names \(column), which is not a property of the entity. Correct the name."
        + hint(column) { $0.propertyNames(of: index) })
  }

  private mutating func checkElements(
    of fetchIndex: FetchIndexDescription, called name: String, at subject: ModelSubject,
    of index: Int
  ) {
    if fetchIndex.elements.isEmpty {
      report(subject, "\(name) has no elements. Add a property.")
    }
    checkWords(fetchIndex, called: name, at: subject)
    for element in fetchIndex.elements {
      let column = element.foldedProperty ?? element.property
      if isPart(element, of: index) {
        checkPart(element, of: fetchIndex, called: name, at: subject, in: index)
        continue
      }
      if element.isExpression ? element.foldedProperty == nil : column.contains(".") {
        checkPath(column, isExpression: element.isExpression, called: name, at: subject, of: index)
        continue
      }
      checkIndexed(column, isOfTexts: element.isOfTexts, called: name, at: subject, of: index)
    }
  }

  private mutating func checkIndexed(
    _ column: String, isOfTexts: Bool, called name: String, at subject: ModelSubject, of index: Int
  ) {
    switch property(column, of: index) {
    case .attribute(let attribute)?:
      if !attribute.isIndexable {
        warn(
          subject,
          "\(name) lists \(column), which is \(Self.unindexable(attribute)). The index is not "
            + "created.")
      } else if attribute.type != .string, isOfTexts {
        report(
          subject,
          "\(name) lists \(column), which is not a string attribute. Only strings can be folded or "
            + "split into words.")
      }
    case .relationship(let relationship)?:
      if isOfTexts {
        report(
          subject,
          "\(name) lists \(column), a relationship. Only strings can be folded or split into words."
        )
      } else if relationship.isToMany {
        warn(subject, "\(name) lists \(column), a to-many relationship. The index is not created.")
      }
    case .fetched?, nil: reportUnknown(column, called: name, at: subject, of: index)
    }
  }

  /// Returns whether a column is a part of a JSON attribute that can be indexed.
  private func isPart(_ element: FetchIndexDescription.Element, of index: Int) -> Bool {
    guard let column = KeptIndex.Column(element),
      case .attribute(let attribute)? = property(column.firstName, of: index)
    else { return false }
    return column.part(of: attribute) != nil
  }

  private mutating func checkPart(
    _ element: FetchIndexDescription.Element, of fetchIndex: FetchIndexDescription,
    called name: String, at subject: ModelSubject, in index: Int
  ) {
    guard let column = KeptIndex.Column(element),
      case .attribute(let attribute)? = property(column.firstName, of: index),
      let part = column.part(of: attribute)
    else { return }
    if element.isOfTexts, !column.fits(attribute) {
      report(
        subject,
        "\(name) lists \(column.property), which is not a string, or is part of JSON whose words "
          + "cannot be indexed. Only strings can be folded, and only string attributes split into "
          + "words.")
    } else if fetchIndex.isUnique {
      report(
        subject,
        "\(name) is unique and lists \(column.property), a part of JSON. Make the index non-unique, or "
          + "the part an attribute.")
    } else if part.element != nil, fetchIndex.elements.count > 1 {
      report(
        subject,
        "\(name) lists \(column.property), a list, with other columns. Move it to an index of its "
          + "own.")
    }
  }

  /// Checks that a full-text index has no other kinds of columns and isn't unique.
  private mutating func checkWords(
    _ fetchIndex: FetchIndexDescription, called name: String, at subject: ModelSubject
  ) {
    guard fetchIndex.elements.contains(where: { $0.kind == .text }) else { return }
    let names = fetchIndex.elements.map(\.property)
    if fetchIndex.elements.contains(where: { $0.kind != .text }) {
      report(
        subject,
        "\(name) mixes text columns with other columns. Move the other columns to another index.")
    } else if Set(names).count < names.count {
      report(subject, "\(name) lists an attribute twice. List it once.")
    } else if names.count > 1,
      names.contains(where: {
        fetchIndex.name(ofWordsIn: $0).utf8.count > Self.maximumNameLength
      })
    {
      report(
        subject,
        "\(name) has a name that is too long in combination with the name of an attribute. "
          + "Together, the two names can have at most \(Self.maximumNameLength) bytes.")
    }
    if fetchIndex.isUnique {
      report(
        subject,
        "\(name) is a unique text index, but words cannot be unique. Make it non-unique.")
    }
  }

  /// Checks a column that is an expression or a key path, as in old models. Only the first name is
  /// checked.
  private mutating func checkPath(
    _ path: String, isExpression: Bool, called name: String, at subject: ModelSubject, of index: Int
  ) {
    let first = path.prefix { $0 != "." }
    if !isExpression, property(String(first), of: index) == nil {
      report(
        subject,
        "\(name) names \(path), but \(first) is not a property of the entity. Correct the name."
          + hint(String(first)) { $0.propertyNames(of: index) })
    } else {
      warn(subject, "\(name) orders by \(path), which is not a property. The index is not created.")
    }
  }
}

extension FetchIndexDescription.Element {
  /// Whether the column requires a string attribute.
  fileprivate var isOfTexts: Bool { kind == .folded || kind == .text || foldedProperty != nil }
}
