import ArborData
import ArborMacros
import Foundation

@Entity final class Author: ManagedObject {
  @Attribute(.unique) var name: String = ""
}
