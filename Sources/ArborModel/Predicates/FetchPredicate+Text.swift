extension FetchPredicate: CustomStringConvertible {
  /// The predicate in canonical form, including its constants. Parsing the text yields an equal
  /// predicate. If the predicate is malformed, its original text.
  public var description: String {
    switch resolved {
    case .success(let node): return PredicatePrinter { _ in "%@" }.text(of: node)
    case .failure(let error): return source ?? "<\(error)>"
    }
  }

  /// The canonical texts of the conditions that the predicate connects by AND, or of the predicate
  /// itself. A condition that contains OR has parentheses, so that it can be connected to others.
  ///
  /// - Throws: The error of a malformed predicate.
  package func conditions() throws(ArborError) -> [String] {
    let printer = PredicatePrinter { _ in "%@" }
    switch try resolved.get() {
    case .constant(true): return []
    case .and(let nodes): return nodes.map(printer.operand)
    case let node: return [printer.operand(node)]
    }
  }

  /// The original text with constants in place of arguments, or `nil` for a predicate that was
  /// created from others.
  private var source: String? {
    guard let text = shape.source?.text else { return nil }
    var source = text.segments[0]
    for (index, segment) in text.segments.dropFirst().enumerated() {
      if index < arguments.count { source += PredicateLiteral.text(of: arguments[index]) }
      source += segment
    }
    return source
  }
}

/// The order in which the printed text uses the arguments. Substitution can change it.
private final class ArgumentOrder {
  var indices: [Int] = []
}

extension FetchPredicate: Codable {
  private enum CodingKeys: String, CodingKey {
    case format, constants
  }

  /// Decodes a predicate from its canonical text with `%@` for constants, and the text of each
  /// constant.
  ///
  /// - Throws: `DecodingError` if a text is malformed. The standard limits apply.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let constants = try container.decodeIfPresent([String].self, forKey: .constants) ?? []
    do {
      var values: [PropertyValue] = []
      for text in constants { values.append(try PredicateLiteral.value(of: text)) }
      try self.init(format: container.decode(String.self, forKey: .format), arguments: values)
    } catch let error as ArborError {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(error)"))
    }
  }

  /// Encodes the predicate as its canonical text with `%@` for constants, and the text of each
  /// constant.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the predicate is malformed.
  public func encode(to encoder: any Encoder) throws {
    let node = try parsed.outcome.get()
    let order = ArgumentOrder()
    let text = PredicatePrinter { index in
      order.indices.append(index)
      return "%@"
    }.text(of: node)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(text, forKey: .format)
    if !order.indices.isEmpty {
      try container.encode(
        order.indices.map { PredicateLiteral.text(of: arguments[$0]) }, forKey: .constants)
    }
  }
}

extension PredicateLiteral {
  /// Returns the constant that a text represents.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the text is not a single constant.
  fileprivate static func value(of text: String) throws(ArborError) -> PropertyValue {
    let limits = PredicateLimits(maximumLength: .max, maximumTerms: .max)
    let shape = PredicateParser.parse(
      PredicateText(segments: ["SELF == " + text]), isFormat: false, limits: limits)
    guard case .comparison(let comparison) = try shape.outcome.get(),
      comparison.comparison == .equal, case .constant(let value) = comparison.right
    else { throw ArborError(.invalidPredicate, "Expected a single constant.") }
    return value
  }
}
