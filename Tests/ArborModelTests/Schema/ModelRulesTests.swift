import ModelSamples
import ArborModel
import Testing

/// An error in a model: the change that introduces it, and the expected message.
struct Mistake: CustomTestStringConvertible, Sendable {
  var entity: String?
  var property: String?
  var says: String
  var make: @Sendable (inout ManagedObjectModel) -> Void

  init(
    _ entity: String?, _ property: String?, says: String,
    make: @escaping @Sendable (inout ManagedObjectModel) -> Void
  ) {
    self.entity = entity
    self.property = property
    self.says = says
    self.make = make
  }

  var testDescription: String { says }
}

extension ManagedObjectModel {
  fileprivate subscript(name: String) -> EntityDescription {
    get { entity(named: name) ?? EntityDescription(name: name) }
    set {
      guard let entityIndex = entities.firstIndex(where: { $0.name == name }) else { return }
      entities[entityIndex] = newValue
    }
  }
}

@Suite struct ModelRulesTests {
  static let entityMistakes: [Mistake] = [
    Mistake("Two words", nil, says: "characters other than letters, digits and _") {
      $0.entities.append(EntityDescription(name: "Two words"))
    },
    Mistake("", nil, says: "no name") { $0.entities.append(EntityDescription(name: "")) },
    Mistake("Company", nil, says: "it is declared twice") {
      $0.entities.append(EntityDescription(name: "Company"))
    },
    Mistake("person", nil, says: "in case only") {
      $0.entities.append(EntityDescription(name: "person"))
    },
    Mistake("Robot", nil, says: "Did you mean Person?") {
      $0.entities.append(EntityDescription(name: "Robot", parent: "Persn"))
    },
    Mistake("Chicken", nil, says: "Chicken → Egg → Chicken") {
      $0.entities.append(EntityDescription(name: "Chicken", parent: "Egg"))
      $0.entities.append(EntityDescription(name: "Egg", parent: "Chicken"))
    },
    Mistake("Compny", nil, says: "Did you mean Company?") {
      $0.fetchRequestTemplates.append(FetchRequestTemplate(name: "odd", entity: "Compny"))
    },
    Mistake("Company", nil, says: "two fetch requests named everybody") {
      $0.fetchRequestTemplates.append(FetchRequestTemplate(name: "everybody", entity: "Company"))
    },
    Mistake("Company", nil, says: "negative limit") {
      $0.fetchRequestTemplates.append(
        FetchRequestTemplate(name: "few", entity: "Company", fetchLimit: -1))
    },
    Mistake(nil, nil, says: "Configuration Local lists the unknown entity Compani") {
      $0.configurations["Local"] = ["Compani"]
    },
    Mistake("Loop", nil, says: "contains itself") {
      $0.composites.append(
        CompositeDescription(
          name: "Loop", attributes: [AttributeDescription(name: "l", type: .composite("Loop"))]))
    },
  ]

  static func attribute(
    says: String, _ attribute: AttributeDescription
  ) -> Mistake {
    Mistake("Company", attribute.name, says: says) { $0["Company"].attributes.append(attribute) }
  }

  static let attributeMistakes: [Mistake] = [
    attribute(says: "begin with a letter", AttributeDescription(name: "1st", type: .string)),
    Mistake("Employee", "name", says: "property of its ancestor Person") {
      $0["Employee"].attributes.append(AttributeDescription(name: "name", type: .string))
    },
    attribute(
      says: "its name differs from name in case only",
      AttributeDescription(name: "Name", type: .date)),
    attribute(
      says: "Expected an integer from -32768 to 32767.",
      AttributeDescription(name: "size", type: .integer16, defaultValue: 40_000)),
    attribute(
      says: "default outside its bounds",
      AttributeDescription(name: "rate", type: .double, defaultValue: 3.5, maximum: 3)),
    attribute(
      says: "default outside its bounds",
      AttributeDescription(name: "code", type: .string, defaultValue: "", minimum: 2)),
    attribute(
      says: "has the minimum 9, which exceeds its maximum 1",
      AttributeDescription(name: "span", type: .integer32, minimum: 9, maximum: 1)),
    attribute(
      says: "bounds, which its type doesn't support",
      AttributeDescription(name: "flag", type: .boolean, minimum: 0)),
    attribute(
      says: "bound that doesn't fit",
      AttributeDescription(name: "day", type: .date, minimum: "yesterday")),
    attribute(
      says: "negative minimum or maximum length",
      AttributeDescription(name: "text", type: .string, minimum: -1)),
    attribute(
      says: "malformed",
      AttributeDescription(name: "tag", type: .string, regularExpression: "([a-z")),
    attribute(
      says: "a regular expression but is not a string",
      AttributeDescription(name: "digits", type: .integer16, regularExpression: "[0-9]+")),
    attribute(says: "has no type", AttributeDescription(name: "untyped", type: .undefined)),
    attribute(
      says: "Did you mean Address?",
      AttributeDescription(name: "seat", type: .composite("Adress"))),
    attribute(
      says: "a structure with more than 60 levels",
      AttributeDescription(
        "tree", .json, .json((0..<60).reduce(.any) { shape, _ in .optional(["a": shape]) }))),
    attribute(
      says: "a structure with cases that are not all strings or all integers",
      AttributeDescription("mood", .json, .json(.list(["a": .cases(["calm", 1])])))),
    attribute(
      says: "a structure with cases that are not all strings or all integers",
      AttributeDescription("mood", .json, .json(.cases([])))),
  ]

  static let relationshipMistakes: [Mistake] = [
    Mistake("Employee", "company", says: "Did you mean employees?") {
      $0["Employee"].relationships[0].inverse = "employes"
    },
    Mistake("Employee", "owner", says: "Did you mean Company?") {
      $0["Employee"].relationships.append(
        RelationshipDescription(name: "owner", destination: "Compny", inverse: "owned"))
    },
    Mistake("Employee", "rival", says: "which names company as its own") {
      $0["Employee"].relationships.append(
        RelationshipDescription(name: "rival", destination: "Company", inverse: "employees"))
    },
    Mistake("Person", "boss", says: "Change that destination to Person or one of its ancestors") {
      $0["Person"].relationships.append(
        RelationshipDescription(name: "boss", destination: "Company", inverse: "bossed"))
      $0["Company"].relationships.append(
        RelationshipDescription(
          name: "bossed", destination: "Employee", inverse: "boss", isToMany: true))
    },
    Mistake("Employee", "manager", says: "ordered but to-one") {
      $0["Employee"].relationships[1].isOrdered = true
    },
    Mistake("Employee", "reports", says: "minimum count 3, which exceeds its maximum count 2") {
      $0["Employee"].relationships[2].minimumCount = 3
      $0["Employee"].relationships[2].maximumCount = 2
    },
    Mistake("Employee", "company", says: "has a count above 1") {
      $0["Employee"].relationships[0].maximumCount = 2
    },
  ]

  static let indexMistakes: [Mistake] = [
    Mistake("Employee", nil, says: "Did you mean number?") {
      $0["Employee"].uniquenessConstraints.append(["numbr"])
    },
    Mistake("Employee", nil, says: "a to-many relationship") {
      $0["Employee"].uniquenessConstraints.append(["reports"])
    },
    Mistake("Employee", nil, says: "transient") {
      $0["Employee"].uniquenessConstraints.append(["draft"])
    },
    Mistake("Employee", nil, says: "twice") {
      $0["Employee"].uniquenessConstraints.append(["age", "age"])
    },
    Mistake("Employee", nil, says: "is empty") {
      $0["Employee"].uniquenessConstraints.append([])
    },
    Mistake("Company", "byCity", says: "names town, which is not a property of the entity") {
      $0["Company"].fetchIndexes.append(
        FetchIndexDescription(name: "byCity", elements: [.init("town")]))
    },
    Mistake("Company", "byName", says: "the same name as another index of the entity") {
      $0["Company"].fetchIndexes.append(
        FetchIndexDescription(name: "byName", elements: [.init("name", isAscending: false)]))
    },
    Mistake("Company", "a/b", says: "that doesn't contain a slash") {
      $0["Company"].fetchIndexes.append(
        FetchIndexDescription(name: "a/b", elements: [.init("name")]))
    },
    Mistake("Company", "none", says: "no elements") {
      $0["Company"].fetchIndexes.append(FetchIndexDescription(name: "none", elements: []))
    },
  ]

  static func index(says: String, _ index: FetchIndexDescription) -> Mistake {
    Mistake("Employee", index.name, says: says) { $0["Employee"].fetchIndexes.append(index) }
  }

  static func condition(says: String, _ condition: String) -> Mistake {
    index(
      says: says,
      FetchIndexDescription(
        name: "part", elements: [.init("age")], partialIndexPredicate: condition))
  }

  /// An object in predicate syntax.
  static let object =
    "objectID(\"arbor://8f14e45f-ceea-467f-9575-6c1f8d1b6c5a/Company/1\")"

  static let kindMistakes: [Mistake] = [
    index(
      says: "age, which is not a string attribute",
      FetchIndexDescription(name: "f", elements: [.init("age", kind: .folded)])),
    index(
      says: "company, a relationship",
      FetchIndexDescription(name: "w", elements: [.init("company", kind: .text)])),
    index(
      says: "mixes text columns with other columns",
      FetchIndexDescription(
        name: "w2", elements: [.init("name", kind: .text), .init("age")])),
    index(
      says: "lists an attribute twice",
      FetchIndexDescription(
        name: "w4", elements: [.init("name", kind: .text), .init("name", kind: .text)])),
    index(
      says: "words cannot be unique",
      FetchIndexDescription(name: "w3", elements: [.init("name", kind: .text)], isUnique: true)),
    index(
      says: "Did you mean name?",
      FetchIndexDescription(
        name: "e", elements: [.init("lowercase:(nam)", isExpression: true)])),
    condition(says: "“company.name == \"a\"”, which reads other objects", "company.name == \"a\""),
    condition(says: "which names reports, a to-many relationship", "reports == nil"),
    condition(says: "which names draft, which is not stored", "draft == nil"),
    condition(says: "which contains the variable $x", "age == $x"),
    condition(says: "which depends on the locale", "name ==[l] \"a\""),
    condition(says: "which names objectID", "objectID != nil"),
    condition(says: "“ANY reports.age > 3”, which reads other objects", "ANY reports.age > 3"),
    condition(
      says: ".@count > 0”, which reads other objects",
      "SUBQUERY(reports, $x, $x.age > 3).@count > 0"),
    condition(says: "which is random", "age > random()"),
    condition(says: "which depends on the time", "now() != nil AND age > 3"),
    condition(says: "which refers to an object of a particular store", "company == \(object)"),
    condition(says: "which matches a regular expression", "age > 3 OR name MATCHES \"a+\""),
    condition(says: "has a malformed predicate", "age >"),
  ]

  @Test(
    "A condition on the object itself is valid",
    arguments: [
      "age > 3", "name BEGINSWITH[cd] \"a\" AND NOT age IN {1, 2}", "company != nil",
      "TRUEPREDICATE",
      "name == nil OR age BETWEEN {1, 2}", "abs(age) > 3", "length(name) > 2",
      "name TOKENMATCHES \"a\"", "TERNARY(age > 3, 1, 0) == 1", "age + 1 > 3",
    ])
  func aConditionOnTheObjectItselfPasses(condition: String) throws {
    var model = try ModelSamples.sound()
    model["Employee"].fetchIndexes.append(
      FetchIndexDescription(
        name: "part", elements: [.init("age")], partialIndexPredicate: condition))
    #expect(Self.problems(of: model).isEmpty)
  }

  @Test("A condition with mismatched types is invalid")
  func aConditionWhoseSidesDoNotFitIsAProblem() throws {
    var model = try ModelSamples.sound()
    Self.condition(says: "", "age BEGINSWITH 3").make(&model)
    let problems = Self.problems(of: model)
    #expect(problems.count == 1)
    let start = "Index part of Employee has the condition “age BEGINSWITH 3”: "
    #expect(problems.first?.message.hasPrefix(start) == true)
    #expect(problems.first?.keyPath == "part")
  }

  @Test(
    "A condition may test whether a large binary value exists",
    arguments: [("photo == nil", 0), ("NULL != photo", 0), ("photo == age", 1)])
  func aConditionMayAskWhetherThereIsALargeBinary(text: String, count: Int) throws {
    var model = try ModelSamples.sound()
    model["Employee"].attributes.append(
      AttributeDescription(
        name: "photo", type: .binary, isOptional: true, allowsExternalStorage: true))
    Self.condition(says: "", text).make(&model)
    #expect(Self.problems(of: model).count == count)
    model["Employee"].uniquenessConstraints.append(["photo"])
    #expect(Self.problems(of: model).contains { $0.message.contains("outside the record") })
  }

  static func request(says: String, _ predicate: String) -> Mistake {
    Mistake("Employee", nil, says: says) {
      $0.fetchRequestTemplates.append(
        FetchRequestTemplate(name: "odd", entity: "Employee", predicate: predicate))
    }
  }

  static func derivation(says: String, _ expression: String) -> Mistake {
    Mistake("Company", "sum", says: says) {
      $0["Company"].attributes.append(
        AttributeDescription(name: "sum", type: .double, derivation: expression))
    }
  }

  static let expressionMistakes: [Mistake] = [
    request(says: "malformed predicate at line 1, column 6", "age >"),
    derivation(says: "Did you mean employees?", "employes.@count"),
    derivation(says: "@cont", "employees.@cont"),
    derivation(says: "Did you mean uppercase?", "upercase:(name)"),
    derivation(says: "the arguments of a function", "count:employees"),
  ]

  static let staleRequests: [Mistake] = [
    request(says: "Did you mean age?", "agee > 3"),
    request(says: "Did you mean name?", "company.nam == $NAME AND age > 3"),
    request(says: "so the path must end there", "age.years IN {1, 2}"),
    Mistake("Employee", "peers", says: "Did you mean number?") {
      $0["Employee"].fetchedProperties[0].request.predicate = "numbr == $FETCH_SOURCE"
    },
  ]

  @Test("A request that names a missing property causes a warning", arguments: staleRequests)
  func aStaleRequestIsAWarning(mistake: Mistake) throws {
    var model = try ModelSamples.sound()
    let before = ModelRules.findings(in: model).count
    mistake.make(&model)
    #expect(Self.problems(of: model).isEmpty)
    let found = ModelRules.findings(in: model)
    #expect(found.count == before + 1)
    let warning = try #require(found.first { $0.error.message.contains(mistake.says) })
    #expect(warning.severity == .warning)
    #expect(warning.error.entity == mistake.entity && warning.error.keyPath == mistake.property)
  }

  static let mistakes =
    expressionMistakes + entityMistakes + attributeMistakes + relationshipMistakes + indexMistakes
    + kindMistakes

  static func problems(of model: ManagedObjectModel) -> [ArborError] {
    do throws(ArborError) {
      try model.validated()
      return []
    } catch {
      #expect(error.code == .invalidModel)
      return error.violations
    }
  }

  @Test("A valid model has no problems")
  func aSoundModelPasses() throws {
    #expect(Self.problems(of: try ModelSamples.sound()).isEmpty)
  }

  @Test("Each error is reported once, with its location", arguments: mistakes)
  func aMistakeIsReportedOnceWhereItIs(mistake: Mistake) throws {
    var model = try ModelSamples.sound()
    mistake.make(&model)
    let problems = Self.problems(of: model)
    #expect(problems.count == 1)
    #expect(problems.first?.message.contains(mistake.says) == true, "\(problems)")
    #expect(problems.first?.entity == mistake.entity)
    #expect(problems.first?.keyPath == mistake.property)
  }

  @Test(
    "A valid derivation is accepted",
    arguments: [
      ("employees.@count", AttributeType.integer64), ("employees.@sum.age", .double),
      ("employees.@max.name", .string), ("now()", .date), ("count:(employees)", .integer16),
      ("canonical:(name)", .string), ("sum:(employees.age)", .double),
      ("employees.@count + 1", .float), ("name + ' Ltd'", .string),
      ("concat(name, ', ', name)", .string), ("join(employees.name, ', ')", .string),
    ])
  func aDerivationThatLeadsSomewherePasses(expression: String, type: AttributeType) throws {
    var model = try ModelSamples.sound()
    let attribute = AttributeDescription(name: "sum", type: type, derivation: expression)
    model["Company"].attributes.append(attribute)
    #expect(Self.problems(of: model).isEmpty)
  }

  @Test(
    "A valid predicate is accepted",
    arguments: [
      "company == $company AND age > 18", "objectID == $id", "company.name BEGINSWITH[cd] \"a\"",
      "TRUEPREDICATE", "manager.company.name == nil OR NOT age BETWEEN {1, 2}", "SELF == $x",
    ])
  func aPredicateThatParsesPasses(predicate: String) throws {
    var model = try ModelSamples.sound()
    model.fetchRequestTemplates.append(
      FetchRequestTemplate(name: "fine", entity: "Employee", predicate: predicate))
    #expect(Self.problems(of: model).isEmpty)
  }

  @Test("Many errors are reported at once")
  func manyMistakesAreReportedAtOnce() throws {
    var model = try ModelSamples.sound()
    for mistake in Self.mistakes { mistake.make(&model) }
    let messages = Self.problems(of: model).map(\.message)
    #expect(messages.count >= Self.mistakes.count)
    for mistake in Self.mistakes {
      #expect(messages.contains { $0.contains(mistake.says) }, "\(mistake.says)")
    }
  }

  @Test("Each of several errors is reported exactly once")
  func tenMistakesAreTen() throws {
    var model = try ModelSamples.sound()
    for mistake in Self.attributeMistakes.prefix(10) { mistake.make(&model) }
    #expect(Self.problems(of: model).count == 10)
  }

  @Test("Too many entities are a single problem")
  func tooManyEntitiesAreOneProblem() {
    let entities = (0...65_535).map { EntityDescription(name: "E\($0)") }
    let problems = Self.problems(of: ManagedObjectModel(entities: entities)).map(\.message)
    #expect(problems.count == 1 && problems[0].contains("65536 entities"), "\(problems)")
  }
}
