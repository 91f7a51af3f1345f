/// A problem or a suspicious part of a model.
package struct ModelFinding: Sendable {
  package enum Severity: Sendable {
    /// The model cannot be used.
    case problem
    /// The model can be used, but possibly not as intended.
    case warning
  }

  package let severity: Severity
  package let subject: ModelSubject
  package var error: ArborError
}

/// A part of a model, identified by position, which is unambiguous even if names are repeated or
/// missing. Readers of model files record the line of each part.
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
