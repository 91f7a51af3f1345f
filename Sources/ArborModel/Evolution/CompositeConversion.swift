/// The conversion of a composite type's values when its parts change between two versions of a
/// model.
///
/// Values store their parts by name. Parts are paired like the properties of entities, by renaming
/// identifiers and names; nested composite types are converted with them.
package struct CompositeConversion: Sendable {
  fileprivate struct Part: Sendable {
    let description: AttributeDescription
    /// The name in the older model, or `nil` if the part is new or cannot be converted.
    let source: String?
    let conversion: ModelDifference.ValueConversion
    /// The conversion of the part's own parts, or `nil` if it isn't composite.
    let nested: CompositeConversion?
  }

  private let parts: [Part]
  /// Whether values can stay as they are stored.
  package let isIdentity: Bool

  /// Returns `nil` if one of the models doesn't have the type, or the type contains itself.
  package init?(
    from former: String, of old: ManagedObjectModel, to name: String, of new: ManagedObjectModel
  ) {
    self.init(from: former, of: old, to: name, of: new, depth: 0)
  }

  private init?(
    from former: String, of old: ManagedObjectModel, to name: String, of new: ManagedObjectModel,
    depth: Int
  ) {
    guard depth < ModelRules.maximumNesting,
      let before = old.composites.first(where: { $0.name == former })?.attributes,
      let after = new.composites.first(where: { $0.name == name })?.attributes
    else { return nil }
    let pairs = IdentityPairs(
      before.map { PartIdentity($0) }, after.map { PartIdentity($0) })
    var isIdentity = before.count == after.count && !pairs.newOf.contains(nil)
    parts = after.enumerated().map { index, part in
      guard let former = pairs.oldOf[index].map({ before[$0] }) else {
        return Part(description: part, source: nil, conversion: .identity, nested: nil)
      }
      var nested: CompositeConversion?
      var conversion = ModelDifference.ValueConversion(from: former.type, to: part.type)
      if case .composite(let inner) = former.type, case .composite(let name) = part.type {
        nested = CompositeConversion(from: inner, of: old, to: name, of: new, depth: depth + 1)
        let isKept = nested.map { inner == name || $0.isIdentity } ?? false
        conversion = isKept ? .identity : .custom
      }
      if conversion != .identity || former.name != part.name || part.tightens(former)
        || nested?.isIdentity == false
      {
        isIdentity = false
      }
      return Part(
        description: part, source: conversion == .custom ? nil : former.name,
        conversion: conversion, nested: nested)
    }
    self.isIdentity = isIdentity
  }

  /// Returns a value of the newer type, or `nil` if the newer type cannot hold a part, or requires
  /// one that the value lacks.
  ///
  /// - Parameters:
  ///   - value: A value of the older type, or `nil`.
  ///   - path: The name of the attribute in the older model, for `report`.
  ///   - report: A closure that is called with a description of each part that doesn't fit.
  package func converted(
    _ value: PropertyValue, at path: String, _ report: (String) -> Void
  ) -> PropertyValue? {
    guard case .composite(let former) = value else { return value }
    var values: [String: PropertyValue] = [:]
    var fits = true
    for part in parts {
      let name = part.description.name
      if let source = part.source, let value = former[source], !value.isNull {
        guard let converted = part.converted(value, at: "\(path).\(source)", report) else {
          fits = false
          continue
        }
        values[name] = converted
      } else if part.source == nil || part.description.demandsValue {
        let standard = part.description.defaultValue
        if !standard.isNull {
          values[name] = standard
        } else if part.description.demandsValue {
          report("no value of \(path).\(name)")
          fits = false
        }
      }
    }
    return fits ? .composite(values) : nil
  }
}

extension CompositeConversion.Part {
  fileprivate func converted(
    _ value: PropertyValue, at path: String, _ report: (String) -> Void
  ) -> PropertyValue? {
    if let nested { return nested.converted(value, at: path, report) }
    if conversion == .identity { return value }
    let converted = description.type.kind.restored(value)
    if converted == nil { report("a value of \(path) that \(description.type) cannot hold") }
    return converted
  }
}

extension AttributeDescription {
  /// Whether every object, or every composite value, must have an explicit value.
  var demandsValue: Bool { !isOptional && !isTransient && derivation == nil }

  /// Whether a former part of a composite type may have no value, and this part must have one.
  func tightens(_ former: AttributeDescription) -> Bool { former.isOptional && demandsValue }
}
