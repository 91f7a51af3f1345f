extension FetchPredicate: ExpressibleByStringInterpolation {
  /// Creates a predicate without interpolated values.
  public init(stringLiteral text: String) {
    self.init(
      shape: PredicateCache.shape(of: PredicateSegments(first: text), isFormat: false),
      arguments: [])
  }

  /// Creates a predicate in which interpolated values are constants.
  public init(stringInterpolation: StringInterpolation) {
    self.init(
      shape: PredicateCache.shape(of: stringInterpolation.segments, isFormat: false),
      arguments: stringInterpolation.arguments)
  }

  /// The literal segments and the interpolated values of a predicate.
  public struct StringInterpolation: StringInterpolationProtocol {
    var segments = PredicateSegments(first: "")
    var arguments: [PropertyValue] = []

    /// Creates an empty interpolation.
    public init(literalCapacity: Int, interpolationCount: Int) {
      arguments.reserveCapacity(interpolationCount)
    }

    /// Appends a segment of the literal.
    public mutating func appendLiteral(_ literal: String) {
      segments.append(literal, behind: arguments.count)
    }

    /// Appends a constant.
    public mutating func appendInterpolation(_ value: some PredicateArgument) {
      arguments.append(value.predicateValue)
      segments.count = arguments.count + 1
    }

    /// Appends a constant, or `nil`.
    public mutating func appendInterpolation<Argument: PredicateArgument>(_ value: Argument?) {
      appendInterpolation(value?.predicateValue ?? PropertyValue.null)
    }

    /// Appends a constant of any type, or `nil`.
    @_disfavoredOverload
    public mutating func appendInterpolation(_ value: (any PredicateArgument)?) {
      arguments.append(value?.predicateValue ?? .null)
      segments.count = arguments.count + 1
    }
  }
}
