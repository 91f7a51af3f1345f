extension FetchPredicate: CustomStringConvertible {
  /// The predicate in canonical form, with its constants: text that parses back to an equal
  /// predicate. Of a malformed predicate, what was written.
  public var description: String {
    switch resolved {
    case .success(let node): return PredicatePrinter { _ in "%@" }.text(of: node)
    case .failure(let error): return source ?? "<\(error)>"
    }
  }

  /// What was written, with constants for arguments; nil for a predicate made from others.
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

/// The arguments in the order in which a printed text names them, which substitution changes.
private final class ArgumentOrder {
  var indices: [Int] = []
}

extension FetchPredicate: Codable {
  private enum CodingKeys: String, CodingKey {
    case format, constants
  }

  /// Reads a predicate: its canonical text with `%@` for constants, and each constant as text.
  ///
  /// - Throws: `DecodingError` where a text does not parse. The standard limits hold.
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

  /// Writes the predicate's canonical text with `%@` for constants, and each constant as text.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where the predicate is malformed.
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
  /// The constant that a text is.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where it is none.
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
