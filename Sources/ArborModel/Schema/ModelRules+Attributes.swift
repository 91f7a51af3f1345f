internal import ArborFoundation

extension ModelRules {
  /// Checks types, default values, bounds and regular expressions of all attributes.
  mutating func checkAttributes() {
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, attribute) in entity.attributes.enumerated() {
        let subject = ModelSubject.attribute(index, propertyIndex)
        check(attribute, called: "Attribute \(entity.name).\(attribute.name)", at: subject)
        if attribute.isIndexed, !attribute.isIndexable, !attribute.isIndexableList {
          warn(
            subject,
            "Attribute \(entity.name).\(attribute.name) is indexed but "
              + "\(Self.unindexable(attribute)). The index is not created. Don't mark the "
              + "attribute as indexed.")
        }
      }
    }
  }

  /// Checks the names and parts of composite types, and that none contains itself.
  mutating func checkComposites() {
    checkCompositeSizes()
    var names: Set<String> = []
    for (index, composite) in model.composites.enumerated() {
      if let flaw = Self.flaw(ofName: composite.name) {
        report(.composite(index), "Composite type \(composite.name) \(flaw).")
      }
      if !names.insert(composite.name).inserted {
        report(
          .composite(index),
          "There are two composite types named \(composite.name). Rename one.")
      }
      var parts: Set<String> = []
      for (propertyIndex, part) in composite.attributes.enumerated() {
        let name = "Attribute \(composite.name).\(part.name)"
        if let flaw = Self.flaw(ofName: part.name) {
          report(.part(index, propertyIndex), "\(name) \(flaw).")
        }
        if !parts.insert(part.name).inserted {
          report(
            .part(index, propertyIndex),
            "\(name) is declared twice in its composite type. Rename one.")
        }
        check(part, called: name, at: .part(index, propertyIndex))
      }
    }
  }

  static func unindexable(_ attribute: AttributeDescription) -> String {
    if attribute.isTransient { return "transient" }
    return attribute.mayLieOutside ? "stored outside the record" : "of a type that has no order"
  }

  private mutating func check(
    _ attribute: AttributeDescription, called name: String, at subject: ModelSubject
  ) {
    switch attribute.type {
    case .composite(let type) where !composites.contains(type):
      report(
        subject,
        "\(name) has the unknown composite type \(type). Use a composite type of the "
          + "model.\(hint(type) { $0.model.composites.map(\.name) })")
    case .undefined where !attribute.isTransient:
      report(subject, "\(name) has no type. Set one, or make the attribute transient.")
    default: break
    }
    if let number = attribute.unsupportedNumber {
      report(
        subject,
        "\(name) is of the Swift type \(number), which no attribute stores exactly. Use Int64, "
          + "Double or Decimal.")
    }
    if attribute.type == .json, attribute.allowsExternalStorage {
      report(
        subject,
        "\(name) is JSON, which is always stored in the record. Don't allow external storage.")
    }
    if attribute.type == .json, let flaw = attribute.shape?.flaw {
      return report(subject, "\(name) has a structure with \(flaw)")
    }
    checkValues(of: attribute, called: name, at: subject)
    guard let pattern = attribute.regularExpression else { return }
    if attribute.type != .string {
      report(
        subject, "\(name) has a regular expression but is not a string. Remove the expression.")
    } else if LocaleSupport.services == nil {
      report(
        subject,
        "\(name) has a regular expression, which ArborCore doesn't support. Use the ArborData "
          + "product, or remove the expression.")
    } else if (try? LocaleSupport.services?.expression(pattern, ignoresCase: false)) == nil {
      report(
        subject, "The regular expression of \(name) is malformed: \"\(pattern)\". Correct it.")
    }
  }

  private mutating func checkValues(
    of attribute: AttributeDescription, called name: String, at subject: ModelSubject
  ) {
    let type = attribute.type
    let fitting = type.fitting(attribute.defaultValue)
    if fitting == nil {
      report(
        subject,
        "\(name) has a default that doesn't fit its type. Expected \(type.expectation).")
    } else if case .composite = type, !attribute.defaultValue.isNull {
      report(
        subject,
        "\(name) is composite and cannot have a default. Set defaults for its parts instead.")
    } else if type == .json, let misfit = attribute.misfit(in: attribute.defaultValue) {
      report(
        subject,
        "\(name) has a default that doesn't fit its structure: \(misfit.words). Correct one of them."
      )
    }
    guard !attribute.minimum.isNull || !attribute.maximum.isNull else { return }
    guard let boundType = type.boundType else {
      report(subject, "\(name) has bounds, which its type doesn't support. Remove the bounds.")
      return
    }
    guard let minimum = boundType.fitting(attribute.minimum),
      let maximum = boundType.fitting(attribute.maximum)
    else {
      let what = type == .string ? "integers, the minimum and maximum length" : type.expectation
      report(subject, "\(name) has a bound that doesn't fit its type. Expected \(what).")
      return
    }
    if Self.exceeds(minimum, maximum) {
      report(
        subject,
        "\(name) has the minimum \(minimum), which exceeds its maximum \(maximum). Correct the "
          + "bounds.")
      return
    }
    if type == .string, Self.exceeds(0, minimum) || Self.exceeds(0, maximum) {
      report(subject, "\(name) has a negative minimum or maximum length. Use 0 or more.")
      return
    }
    if attribute.hasDefaultOutsideBounds {
      report(
        subject, "\(name) has a default outside its bounds. Correct the default or the bounds.")
    }
  }

  /// Returns whether the first of two values of the same type is greater. Returns `false` if one is
  /// null.
  fileprivate static func exceeds(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left > right
    case (.double(let left), .double(let right)): left > right
    case (.decimal(let left), .decimal(let right)): left > right
    case (.date(let left), .date(let right)): left > right
    default: false
    }
  }
}

extension AttributeDescription {
  /// Whether the default value is outside the bounds. `false` if one of them doesn't match the
  /// type.
  package var hasDefaultOutsideBounds: Bool {
    guard let boundType = type.boundType, let minimum = boundType.fitting(minimum),
      let maximum = boundType.fitting(maximum), var value = type.fitting(defaultValue)
    else { return false }
    if case .string(let text) = value { value = .integer(Int64(text.count)) }
    return ModelRules.exceeds(minimum, value) || ModelRules.exceeds(value, maximum)
  }
}
