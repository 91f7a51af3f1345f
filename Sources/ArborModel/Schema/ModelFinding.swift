/// Something that is wrong with a model, or looks wrong, and the part of the model it concerns.
package struct ModelFinding: Sendable {
  package enum Severity: Sendable {
    /// The model cannot be used.
    case problem
    /// The model can be used, but perhaps not as its author thinks.
    case warning
  }

  package let severity: Severity
  package let subject: ModelSubject
  package var error: ArborError
}

/// A part of a model by its place, which is unmistakable where names are double or missing. A
/// document knows the line of each.
package enum ModelSubject: Sendable, Hashable {
  case model
  case entity(Int)
  case attribute(Int, Int)
  case relationship(Int, Int)
  case fetchedProperty(Int, Int)
  case index(Int, Int)
  case constraint(Int, Int)
  case template(Int)
  case composite(Int)
  case part(Int, Int)
  case configuration(String)
}
