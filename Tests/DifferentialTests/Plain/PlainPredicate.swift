/// A condition as the naive evaluator keeps it.
indirect enum PlainPredicate {
  case truth(Bool)
  case not(PlainPredicate)
  case and([PlainPredicate])
  case or([PlainPredicate])
  case comparison(PlainComparison)
}

struct PlainComparison {
  enum Qualifier: String, CaseIterable {
    case any = "ANY"
    case some = "SOME"
    case all = "ALL"
    case none = "NONE"
  }

  enum Test: String, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case between = "BETWEEN"
    case `in` = "IN"
    case notIn = "NOT IN"
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case like = "LIKE"
    case matches = "MATCHES"
  }

  struct Options {
    var foldsCase = false
    var foldsDiacritics = false
    var isNormalized = false

    func fold(_ text: String) -> String {
      if isNormalized { return text }
      return PlainText.fold(text, case: foldsCase, diacritics: foldsDiacritics)
    }
  }

  var qualifier: Qualifier?
  var left: PlainTerm
  var test: Test
  var options = Options()
  var right: PlainTerm
  /// What `MATCHES` stands for; ``right`` then holds its text.
  var pattern: PlainPattern?
}

/// What gives a value.
indirect enum PlainTerm {
  case constant(PlainValue)
  /// From the candidate.
  case path([PlainStep])
  case variable(String, [PlainStep])
  case list([PlainTerm])
}

/// One name of a key path.
enum PlainStep {
  case attribute(String)
  case toOne(String)
  case toMany(String)
  case objectID
  case entityName

  var text: String {
    switch self {
    case .attribute(let name), .toOne(let name), .toMany(let name): name
    case .objectID: "objectID"
    case .entityName: "entity.name"
    }
  }

  var isToMany: Bool { if case .toMany = self { true } else { false } }
}
