internal import SwiftSyntax

/// Which initial values are constants.
///
/// A constant belongs to the description of the attribute, so that the model says it and objects
/// without the class get it too. Everything else is evaluated for each object: `UUID()`, `Date()`,
/// `Date.now`, a call, a name. A macro sees the text alone, so the text decides: constants are
/// literals, cases and other constants of the property's own type, operators between these, and the
/// initializers whose arguments determine the value, `Date(timeIntervalSince1970: 0)`.
extension ExprSyntax {
  /// Whether the expression has one value, however often it is evaluated.
  ///
  /// - Parameter type: The type of the property, for members that stand without one: `.junior`.
  func isConstant(of type: TypeSyntax) -> Bool { isConstant(ofTypeNamed: type.unwrappedName) }

  private func isConstant(ofTypeNamed type: String) -> Bool {
    switch self.as(ExprSyntaxEnum.self) {
    case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr,
      .regexLiteralExpr:
      true
    case .stringLiteralExpr: plainText != nil
    case .arrayExpr(let array):
      array.elements.allSatisfy {
        $0.expression.isConstant(
          ofTypeNamed: type.hasPrefix("[") ? String(type.dropFirst().dropLast()) : "")
      }
    case .dictionaryExpr(let dictionary):
      switch dictionary.content {
      case .colon: true
      case .elements(let elements):
        elements.allSatisfy {
          $0.key.isConstant(ofTypeNamed: "") && $0.value.isConstant(ofTypeNamed: "")
        }
      }
    case .tupleExpr(let tuple):
      tuple.elements.allSatisfy { $0.expression.isConstant(ofTypeNamed: type) }
    case .prefixOperatorExpr(let prefix): prefix.expression.isConstant(ofTypeNamed: type)
    case .forceUnwrapExpr(let forced): forced.expression.isConstant(ofTypeNamed: type)
    case .sequenceExpr(let sequence): Self.isConstant(Array(sequence.elements), type)
    case .memberAccessExpr(let member): Self.isConstant(member, type)
    case .functionCallExpr(let call): Self.isConstant(call, type)
    default: false
    }
  }

  /// Operands with operators between them: `60 * 60`, `5 as Int64`,
  /// `UUID(uuidString: "…") ?? UUID()`.
  private static func isConstant(_ elements: [ExprSyntax], _ type: String) -> Bool {
    guard let first = elements.first, first.isConstant(ofTypeNamed: type) else { return false }
    var index = 1
    while index + 1 < elements.count {
      if let symbol = elements[index].as(BinaryOperatorExprSyntax.self)?.operator.text {
        // What stands behind it is evaluated where the constant is nil, which it is not.
        if symbol == "??" { return true }
        guard elements[index + 1].isConstant(ofTypeNamed: type) else { return false }
      } else if !elements[index].is(UnresolvedAsExprSyntax.self) {
        return false
      }
      index += 2
    }
    return true
  }

  /// `.junior`, `Rank.junior`, `Int.max`; of a date only the two that do not move.
  private static func isConstant(_ member: MemberAccessExprSyntax, _ type: String) -> Bool {
    let owner = member.base.map { $0.lastName } ?? type
    let name = member.declName.baseName.text
    if owner == "Date" { return ["distantPast", "distantFuture"].contains(name) }
    // Under another name, too, a type's `now` is no constant.
    guard !owner.isEmpty, !["now", "today", "random"].contains(name) else { return false }
    return owner == type || numbers.contains(owner)
  }

  /// The labels of the arguments that determine a value of a type of Foundation.
  private static let labels: [String: [String]] = [
    "Date": ["timeIntervalSinceReferenceDate", "timeIntervalSince1970"],
    "UUID": ["uuidString", "uuid"], "URL": ["string"],
  ]
  private static let numbers: Set<String> = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "Float", "Double",
    "Decimal", "Bool",
  ]
  /// Types whose initializers depend on their arguments alone.
  private static let values: Set<String> = numbers.union(["String", "Data", "Set", "Array"])

  private static func isConstant(_ call: FunctionCallExprSyntax, _ type: String) -> Bool {
    let member = call.calledExpression.as(MemberAccessExprSyntax.self)
    let isWrapping = member?.base == nil && member?.declName.baseName.text == "some"
    guard call.trailingClosure == nil, call.additionalTrailingClosures.isEmpty,
      call.arguments.allSatisfy({
        $0.expression.isConstant(ofTypeNamed: isWrapping ? type : "")
      })
    else { return false }
    if isWrapping { return true }
    var owner = call.calledExpression.lastName
    if let member {
      switch member.declName.baseName.text {
      case "init": owner = member.base.map { $0.lastName } ?? type
      default: return false
      }
    }
    let first = call.arguments.first?.label?.text
    if first == "rawValue" || values.contains(owner) { return true }
    // `[String]()`
    if call.calledExpression.is(ArrayExprSyntax.self) { return call.arguments.isEmpty }
    return first.map { labels[owner, default: []].contains($0) } ?? false
  }

  /// The last name of a path of names, without what it is specialised for.
  private var lastName: String {
    if let member = self.as(MemberAccessExprSyntax.self) { return member.declName.baseName.text }
    if let generic = self.as(GenericSpecializationExprSyntax.self) {
      return generic.expression.lastName
    }
    return self.as(DeclReferenceExprSyntax.self)?.baseName.text ?? ""
  }
}

extension TypeSyntax {
  /// The last name of the type, of an optional one that of what it wraps.
  fileprivate var unwrappedName: String {
    if let wrapped { return wrapped.unwrappedName }
    if let member = self.as(MemberTypeSyntax.self) { return member.name.text }
    return self.as(IdentifierTypeSyntax.self)?.name.text ?? trimmedDescription
  }
}
