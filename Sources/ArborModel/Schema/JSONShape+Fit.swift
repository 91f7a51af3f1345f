internal import ArborFoundation
package import ArborJSON

extension JSONShape {
  /// The first part of a value that doesn't fit a structure.
  package struct Misfit: Sendable {
    /// The keys and positions that lead to the part.
    package fileprivate(set) var steps: [Step] = []
    /// The value that the structure requires: `a string`.
    package let expected: String
    /// The value that was found: `the number 7`. `nil` if the member is missing.
    package let found: String?

    package enum Step: Sendable, Hashable {
      case key(String)
      case position(Int)
    }

    /// The path of the part: `addresses[2].city`. Empty for the whole value.
    package var path: String {
      steps.reduce(into: "") { path, step in
        switch step {
        case .key(let key): path += path.isEmpty ? key : ".\(key)"
        case .position(let position): path += "[\(position)]"
        }
      }
    }

    /// The path of the part, beginning with the attribute's name.
    package func path(below attribute: String) -> String {
      steps.isEmpty ? attribute : "\(attribute).\(path)"
    }

    /// The problem as a sentence: `Expected a string for Person.address.city, but it is missing.`
    package func message(_ entity: String, _ attribute: String) -> String {
      "Expected \(expected) for \(entity).\(path(below: attribute)), but "
        + (found.map { "found \($0)." } ?? "it is missing.")
    }

    /// `addresses[2].city: expected a string, but found the number 7`.
    package var words: String {
      "\(path.isEmpty ? "" : "\(path): ")expected \(expected), but "
        + (found.map { "found \($0)" } ?? "it is missing")
    }
  }

  /// The rules that a value must fit.
  package enum Fit: Sendable {
    /// Those of values that a program sets: an enumeration's raw value is a known case.
    case given
    /// Those of stored values: an enumeration's raw value may be one that only another version of the
    /// program knows.
    case stored
    /// Those of stored values that get another structure: a floating-point type has the exact number,
    /// so that nothing is lost when it is written again.
    case kept
  }

  /// Returns the first part of a value that doesn't fit, or `nil` if everything does.
  ///
  /// - Parameter standard: A value, such as the attribute's default, whose members replace missing
  ///   ones.
  package func misfit(
    in value: JSONValue, standard: JSONValue? = nil, as fit: Fit = .given
  ) -> Misfit? {
    FitSearch(fit: fit).misfit(in: value, self, standard)
  }
}

extension AttributeDescription {
  /// Returns the first part of a value that doesn't fit the structure, or `nil` if everything does.
  package func misfit(in value: PropertyValue) -> JSONShape.Misfit? {
    guard type == .json, let shape, !value.isNull, let json = value.json else { return nil }
    return shape.misfit(in: json, standard: defaultValue.json)
  }

  /// Returns the first part of a stored value that doesn't fit the structure, or `nil` if everything
  /// does.
  package func misfit(
    inJSON bytes: UnsafeRawBufferPointer, as fit: JSONShape.Fit
  ) -> JSONShape.Misfit? {
    guard let shape, let json = try? JSONValue.parse(Data(bytes)) else { return nil }
    return shape.misfit(in: json, standard: defaultValue.json, as: fit)
  }
}

extension JSONValue {
  /// The first number that is too large for any attribute, or `nil` if there isn't one.
  package var numberOutOfRange: JSONShape.Misfit? {
    switch self {
    case .number: PropertyValue(json: self) == nil ? misfit("a number below 1.8e308") : nil
    case .array(let elements):
      elements.enumerated().lazy
        .compactMap { $1.numberOutOfRange?.below(.position($0)) }.first
    case .object(let members):
      members.lazy.compactMap { $1.numberOutOfRange?.below(.key($0)) }.first
    case .null, .bool, .string: nil
    }
  }

  fileprivate func misfit(_ expected: String) -> JSONShape.Misfit {
    JSONShape.Misfit(expected: expected, found: shortWords)
  }
}

/// A search that visits a value as deeply as its structure reaches.
private struct FitSearch {
  let fit: JSONShape.Fit

  func misfit(
    in value: JSONValue, _ shape: JSONShape, _ standard: JSONValue?
  ) -> JSONShape.Misfit? {
    if value.isNull, shape.isOptional || standard != nil { return nil }
    switch (shape.present, value) {
    case (.any, _): return nil
    case (.scalar(let scalar), _):
      guard scalar.accepts(value, isAnySize: fit == .stored), fit != .kept || scalar.isExact(value)
      else {
        return value.misfit(shape.words)
      }
      return nil
    case (.cases(let cases), _):
      guard JSONShape.Scalar(of: cases).accepts(value, isAnySize: false),
        let text = PropertyValue(json: value),
        fit != .given || cases.contains(text)
      else { return value.misfit(shape.words) }
      return nil
    case (.object(let shapes), .object(let members)):
      for (key, shape) in shapes.sorted(by: { $0.key < $1.key }) {
        let standard = standard?[key]
        guard let member = members[key] else {
          if shape.isOptional || standard != nil { continue }
          return JSONShape.Misfit(expected: shape.words, found: nil).below(.key(key))
        }
        if let found = misfit(in: member, shape, standard) { return found.below(.key(key)) }
      }
      return nil
    case (.list(let element), .array(let elements)):
      for (position, value) in elements.enumerated() {
        if let found = misfit(in: value, element, nil) { return found.below(.position(position)) }
      }
      return nil
    case (.map(let shape), .object(let members)):
      for (key, value) in members {
        if let found = misfit(in: value, shape, nil) { return found.below(.key(key)) }
      }
      return nil
    default: return value.misfit(shape.words)
    }
  }
}

extension JSONShape.Misfit {
  /// Returns the misfit with one more step before the others.
  fileprivate func below(_ step: Step) -> Self {
    var misfit = self
    misfit.steps.insert(step, at: 0)
    return misfit
  }
}

extension JSONShape.Scalar {
  /// Returns whether a value is one of the scalar's JSON forms.
  ///
  /// - Parameter isAnySize: Whether integers may have more bits. Another version of the program may
  ///   have written them.
  fileprivate func accepts(_ value: JSONValue, isAnySize: Bool) -> Bool {
    switch (self, value) {
    case (.boolean, .bool), (.string, .string), (.double, .number), (.date, .number): true
    case (.float, .number(let number)): Float(number.text)?.isFinite ?? false
    case (.float, .string(let text)), (.double, .string(let text)):
      text == "Infinity" || text == "-Infinity"
    case (.integer(let bits, let isSigned), .number(let number)):
      isAnySize ? Self.fits(number, 128, true) : Self.fits(number, bits, isSigned)
    case (.decimal, .number(let number)): number.decimal != nil
    case (.uuid, .string(let text)): UUID(uuidString: text) != nil
    case (.uri, .string(let text)): URL(string: text) != nil
    case (.binary, .string(let text)): Data(base64Encoded: text) != nil
    default: false
    }
  }

  /// Returns whether a floating-point type has exactly the number of a value, up to the digits that it
  /// is written with.
  fileprivate func isExact(_ value: JSONValue) -> Bool {
    guard case .number(let number) = value else { return true }
    return switch self {
    case .float: Float(number.text).flatMap { JSONNumber(text: "\($0)") } == number
    case .double: number.double.flatMap(JSONNumber.init) == number
    case .decimal: number.decimal.flatMap(JSONNumber.init) == number
    default: true
    }
  }

  private static func fits(_ number: JSONNumber, _ bits: UInt8, _ isSigned: Bool) -> Bool {
    guard let whole = number.int64.map({ Int128($0) }) ?? number.uint64.map({ Int128($0) }) else {
      guard bits > 64 else { return false }
      return isSigned ? Int128(number.text) != nil : UInt128(number.text) != nil
    }
    guard bits <= 64 else { return isSigned || whole >= 0 }
    let limit = Int128(1) << Int128(isSigned ? bits - 1 : bits)
    return whole < limit && whole >= (isSigned ? -limit : 0)
  }
}

extension JSONValue {
  /// The value in human-readable form, shortened: `the number 7`, `a list`.
  fileprivate var shortWords: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let number): "the number \(number.text)"
    case .string(let text): "the string \"\(text.count > 40 ? text.prefix(40) + "…" : text[...])\""
    case .array: "a list"
    case .object: "an object"
    }
  }
}
